//! Settings are checked before anything runs.

use edgepace_curriculum::{
    CurriculumConfig, CurriculumError, EmbeddingSource, EvaluationGraph, Kernel, MaskForm, Pace, ResidualTerm,
};

#[test]
fn presets_are_legal_and_known_by_name() {
    for name in CurriculumConfig::PRESETS {
        CurriculumConfig::preset(name).unwrap().check().unwrap();
    }
    let error = CurriculumConfig::preset("papr").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`preset` is `papr`, expected paper, official, cosine, posterior, edgepace or trust"
    );
}

#[test]
fn presets_are_what_the_design_says() {
    let ours = CurriculumConfig::default();
    assert_eq!((ours.kernel, ours.average, ours.pace), (Kernel::Evidence, 0.5, Pace::Quantile));
    assert_eq!((ours.source, ours.evaluation), (EmbeddingSource::Pretrained, EvaluationGraph::Validated));
    assert_eq!((ours.start_share, ours.full_at, ours.gamma), (0.0, 2.0 / 3.0, 0.0));
    assert_eq!(CurriculumConfig { kernel: Kernel::Evidence, ..CurriculumConfig::posterior() }, ours);
    let paper = CurriculumConfig::paper();
    assert_eq!(
        (paper.kernel, paper.pace, paper.source),
        (Kernel::Inner, Pace::Lambda, EmbeddingSource::Current)
    );
    let official = CurriculumConfig::official();
    assert_eq!((official.kernel, official.mask), (Kernel::Cosine, MaskForm::Adam));
    assert!(official.dropout_in_embeddings);
    let trust = CurriculumConfig::trust();
    assert_eq!((trust.kernel, trust.pace, trust.sharpness), (Kernel::Trust, Pace::Lambda, Some(1.0)));
    assert_eq!((trust.evaluation, trust.average, trust.gamma), (EvaluationGraph::Validated, 0.0, 3.0));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let d = CurriculumConfig::default;
    let cases = [
        ("average", CurriculumConfig { average: 1.0, ..d() }),
        ("evidence_ridge", CurriculumConfig { evidence_ridge: 0.0, ..d() }),
        ("evidence_samples", CurriculumConfig { evidence_samples: 0, ..d() }),
        ("beta", CurriculumConfig { beta: 0.0, ..d() }),
        ("gamma", CurriculumConfig { gamma: -0.1, ..d() }),
        ("gamma", CurriculumConfig { gamma: f64::NAN, ..d() }),
        ("full_at", CurriculumConfig { full_at: 0.0, ..d() }),
        ("full_at", CurriculumConfig { full_at: 1.1, ..d() }),
        ("start_share", CurriculumConfig { start_share: -0.1, ..d() }),
        ("lambda_start", CurriculumConfig { lambda_start: Some(-1.0), ..d() }),
        ("lambda_step", CurriculumConfig { lambda_step: Some(0.0), ..d() }),
        ("official_base", CurriculumConfig { official_base: f64::INFINITY, ..d() }),
        ("period", CurriculumConfig { period: 0, ..d() }),
        ("mask", CurriculumConfig { mask: MaskForm::Adam, ..d() }),
        ("residual_term", CurriculumConfig { residual_term: ResidualTerm::Mean, ..d() }),
        (
            "residual_term",
            CurriculumConfig { source: EmbeddingSource::Pretrained, ..CurriculumConfig::paper() },
        ),
    ];
    for (name, config) in cases {
        let error = config.check().unwrap_err();
        assert!(
            matches!(&error, CurriculumError::Refused(refusal) if refusal.field == name),
            "{name}: {error}"
        );
    }
}

#[test]
fn settings_go_through_text_and_unknown_ones_are_refused() {
    for name in CurriculumConfig::PRESETS {
        let config = CurriculumConfig::preset(name).unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<CurriculumConfig>(&text).unwrap(), config);
    }
    let config: CurriculumConfig = serde_json::from_str(r#"{"kernel": "cosine", "gamma": 0.5}"#).unwrap();
    assert_eq!(
        config,
        CurriculumConfig { kernel: Kernel::Cosine, gamma: 0.5, ..CurriculumConfig::default() }
    );
    let error = serde_json::from_str::<CurriculumConfig>(r#"{"kernle": "cosine"}"#).unwrap_err();
    assert!(error.to_string().contains("unknown field `kernle`"), "{error}");
    let error = serde_json::from_str::<CurriculumConfig>(r#"{"kernel": "cos"}"#).unwrap_err();
    assert!(error.to_string().contains("expected one of `inner`, `cosine`"), "{error}");
}
