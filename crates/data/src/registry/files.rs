//! The files of each dataset, with size and SHA-256 where upstream's bytes are known.

use super::{Origin, RemoteFile, Unpack};

const MIB: u64 = 1 << 20;
/// The largest size taken for a file whose size is not known; the largest of them is far smaller.
const UNKNOWN_LIMIT: u64 = 256 * MIB;

pub(super) const PLANETOID: Origin = Origin {
    folder: "planetoid",
    mirrors: &[
        "https://github.com/kimiyoung/planetoid/raw/master/data/",
        "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/",
    ],
};
pub(super) const GNN_BENCHMARK: Origin = Origin {
    folder: "npz",
    mirrors: &[
        "https://github.com/shchur/gnn-benchmark/raw/master/data/npz/",
        "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz/",
    ],
};
pub(super) const HETEROPHILOUS: Origin = Origin {
    folder: "heterophilous",
    mirrors: &[
        "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/",
        "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/main/data/",
    ],
};
pub(super) const GEOM_GCN: Origin = Origin {
    folder: "geom-gcn",
    mirrors: &[
        "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master/",
        "https://github.com/graphdml-uiuc-jlu/geom-gcn/raw/master/",
    ],
};
pub(super) const OGB: Origin =
    Origin { folder: "ogb", mirrors: &["https://snap.stanford.edu/ogb/data/nodeproppred/"] };

const fn known(name: &'static str, bytes: u64, sha256: &'static str) -> RemoteFile {
    RemoteFile { name, sha256: Some(sha256), bytes: Some(bytes), limit: bytes, unpack: None }
}

const fn unknown(name: &'static str) -> RemoteFile {
    RemoteFile { name, sha256: None, bytes: None, limit: UNKNOWN_LIMIT, unpack: None }
}

pub(super) const CORA: &[RemoteFile] = &[
    known("ind.cora.x", 22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
    known("ind.cora.tx", 148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
    known("ind.cora.allx", 257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
    known("ind.cora.y", 4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
    known("ind.cora.ty", 28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
    known("ind.cora.ally", 47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
    known("ind.cora.graph", 59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
    known("ind.cora.test.index", 5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
];
pub(super) const CITESEER: &[RemoteFile] = &[
    known("ind.citeseer.x", 31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
    known("ind.citeseer.tx", 260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
    known("ind.citeseer.allx", 595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
    known("ind.citeseer.y", 3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
    known("ind.citeseer.ty", 24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
    known("ind.citeseer.ally", 55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
    known("ind.citeseer.graph", 61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
    known(
        "ind.citeseer.test.index",
        5000,
        "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    ),
];
pub(super) const PUBMED: &[RemoteFile] = &[
    known("ind.pubmed.x", 23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
    known("ind.pubmed.tx", 405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
    known("ind.pubmed.allx", 7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
    known("ind.pubmed.y", 854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
    known("ind.pubmed.ty", 12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
    known("ind.pubmed.ally", 224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
    known("ind.pubmed.graph", 471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
    known("ind.pubmed.test.index", 6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
];
pub(super) const CS: &[RemoteFile] = &[unknown("ms_academic_cs.npz")];
pub(super) const PHYSICS: &[RemoteFile] = &[unknown("ms_academic_phy.npz")];
pub(super) const PHOTO: &[RemoteFile] = &[unknown("amazon_electronics_photo.npz")];
pub(super) const COMPUTERS: &[RemoteFile] = &[unknown("amazon_electronics_computers.npz")];
pub(super) const TEXAS: &[RemoteFile] =
    &[known("texas.npz", 28586, "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844")];
pub(super) const CORNELL: &[RemoteFile] =
    &[known("cornell.npz", 30515, "684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298")];
pub(super) const WISCONSIN: &[RemoteFile] =
    &[known("wisconsin.npz", 41672, "2543c89838cfc75f737f7c4664cc1d097f8268602c20b2d1bd4f21407df9c074")];
pub(super) const ACTOR: &[RemoteFile] =
    &[known("actor.npz", 252956, "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816")];
pub(super) const CHAMELEON: &[RemoteFile] = &[known(
    "chameleon_directed.npz",
    191520,
    "34aea6b6888063544232100d53d4aa7e87e37953ec8dd3a7092afb25bb2f0328",
)];
pub(super) const SQUIRREL: &[RemoteFile] = &[known(
    "squirrel_directed.npz",
    760119,
    "3f0436486716cf77b651c372e54f6b4c2cc52262e7faeeab584a34b41bae2616",
)];
pub(super) const TOLOKERS: &[RemoteFile] = &[unknown("tolokers.npz")];
pub(super) const MINESWEEPER: &[RemoteFile] = &[unknown("minesweeper.npz")];
pub(super) const ROMAN_EMPIRE: &[RemoteFile] = &[unknown("roman_empire.npz")];
pub(super) const AMAZON_RATINGS: &[RemoteFile] = &[unknown("amazon_ratings.npz")];
pub(super) const QUESTIONS: &[RemoteFile] = &[unknown("questions.npz")];
pub(super) const CHAMELEON_FILTERED: &[RemoteFile] = &[unknown("chameleon_filtered.npz")];
pub(super) const SQUIRREL_FILTERED: &[RemoteFile] = &[unknown("squirrel_filtered.npz")];
pub(super) const TEXAS_GEOM_GCN: &[RemoteFile] = &[
    known(
        "new_data/texas/out1_graph_edges.txt",
        2172,
        "0fe85183243a78cbee9b85a684f8240963d04d1020d10e9cd2b8cfb25e33b476",
    ),
    known(
        "new_data/texas/out1_node_feature_label.txt",
        624308,
        "cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3",
    ),
    known(
        "splits/texas_split_0.6_0.2_0.npz",
        698,
        "7ba77bf7a8856fcc0ab15623a611b8cdce994e820f577da914123fb4f45272b0",
    ),
    known(
        "splits/texas_split_0.6_0.2_1.npz",
        701,
        "21cc244a96e3c51ad7993afb4dd227f90e467d82b964bb42d7d9fc500a6ef87f",
    ),
    known(
        "splits/texas_split_0.6_0.2_2.npz",
        756,
        "b9e96a699ccf3a4c31ffbd03e52b25570889833425d20fa44e06c37b327cf61e",
    ),
    known(
        "splits/texas_split_0.6_0.2_3.npz",
        759,
        "1a7deeb1285009789d5e6045d7e39f7d019c9223d9a75a2b7ce5e26d33b51f63",
    ),
    known(
        "splits/texas_split_0.6_0.2_4.npz",
        702,
        "b5419ff3fe31adcae66fdb085d4f47d0b188e9436ab59f438632af969aafc674",
    ),
    known(
        "splits/texas_split_0.6_0.2_5.npz",
        691,
        "68405fd1b9ff6105d99717220ecbd198785e338bf4a73abee722bbc9703d2667",
    ),
    known(
        "splits/texas_split_0.6_0.2_6.npz",
        756,
        "8ad78b973164e70e5ac0d282e79adcbc6006e373909fbdfd72a13131e09040b8",
    ),
    known(
        "splits/texas_split_0.6_0.2_7.npz",
        693,
        "a84bcbf997365bddf5fdf72ed49dc7e435e475f8c6210f8cdee7c8581a2bd6df",
    ),
    known(
        "splits/texas_split_0.6_0.2_8.npz",
        762,
        "65ba65f296f91d40d2d7d3c9369b67415094a7e254c6eee48cd6d6531c586fdf",
    ),
    known(
        "splits/texas_split_0.6_0.2_9.npz",
        693,
        "4306981d654ad8835c000c1f73fb6c1e60dfe99e26c13a6073f3b0f4cc3ce6ee",
    ),
];
pub(super) const CORNELL_GEOM_GCN: &[RemoteFile] = &[
    known(
        "new_data/cornell/out1_graph_edges.txt",
        2001,
        "c4522a00cc40873c8a04a3a07c49e24a48a507eb284ac9c9f2d3e0590351bbb7",
    ),
    known(
        "new_data/cornell/out1_node_feature_label.txt",
        624308,
        "cf5a3ca346cdd1210b8342e22517fcbbdae658065b7a3145f59350e50e6236a3",
    ),
    known(
        "splits/cornell_split_0.6_0.2_0.npz",
        704,
        "14022a1e19ec7fc0a07a2c06a785a2f9dc52809dbcd1c14fc318f7800675d73f",
    ),
    known(
        "splits/cornell_split_0.6_0.2_1.npz",
        700,
        "5568fa27e968a724c92211bf97026a36a08893cf94b218043e49b4c973c35cfb",
    ),
    known(
        "splits/cornell_split_0.6_0.2_2.npz",
        695,
        "763fc1f423395e4172617fa5b6bc0d7adad2241e5fedd1a4f0a098a67f9dc8e9",
    ),
    known(
        "splits/cornell_split_0.6_0.2_3.npz",
        701,
        "4334321cd9ec42de9d51107fb9a6dc310512e0921bc1cff0f390301ee37315fa",
    ),
    known(
        "splits/cornell_split_0.6_0.2_4.npz",
        759,
        "2b6b3ef396f4dc7fcdc276fb16b88bb87409b25879dd672b3a506eca844dd8d7",
    ),
    known(
        "splits/cornell_split_0.6_0.2_5.npz",
        754,
        "1a40ef8b20aa9e1aa850e1abdaba3efac1f66c98ef2c6a59eadefa21136ece6b",
    ),
    known(
        "splits/cornell_split_0.6_0.2_6.npz",
        758,
        "bcddf4ab59eae4c7d47b8a6cec9025a54ec0e6d3f3bdcd7678e201f25ace4642",
    ),
    known(
        "splits/cornell_split_0.6_0.2_7.npz",
        693,
        "2b497e12dfc123d7e7c9bb4fc4a82b5bee18409e109a3e3a04da439cacec964d",
    ),
    known(
        "splits/cornell_split_0.6_0.2_8.npz",
        701,
        "5c4e110d252d7ad156b2e4cd34b6dbd1cecbcc1755f8d72e932cc2a54f2b643c",
    ),
    known(
        "splits/cornell_split_0.6_0.2_9.npz",
        704,
        "80f1531807194d301affbf6f879a4ab4f56a19bdccb62d192e3ecd1b5275f052",
    ),
];
pub(super) const WISCONSIN_GEOM_GCN: &[RemoteFile] = &[
    known(
        "new_data/wisconsin/out1_graph_edges.txt",
        3606,
        "ebd213511c88fce1eda450c2f920600c4b8cbb38f02384856bcc47c6ec1807ae",
    ),
    known(
        "new_data/wisconsin/out1_node_feature_label.txt",
        856324,
        "a32b0aa38d42f0d36841e8a8cb646d197f0ff33a182ac75a2b4476aeed3c7e4b",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_0.npz",
        805,
        "f66f641e191d35d491cd3b63d6c2cd93c4b436da398984b44c19a8d4d7e7b1a5",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_1.npz",
        739,
        "534aeb97266bd5a85a8587adf8eebad3f2e001c1240610f24b62c0ad0c2466ee",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_2.npz",
        747,
        "047a5b641778ec3a4c76055fd7f18ecb2424c0952f20dfff7e1b17749d8acbdd",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_3.npz",
        810,
        "706c27b4c51d046c0316f1e915f093e4a1fff48b3436b3e7c421eab596a99e77",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_4.npz",
        812,
        "7ee813605eec086457aaff022cf3837f2f893fcf8bd37e3a8d2ff0c80e4c4f87",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_5.npz",
        749,
        "8094ac2bdaf2cbea8f7a48df66a0800c809b2fd5942740e6b0441b660d3a0dd5",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_6.npz",
        735,
        "c423a8deea9b18f9ecb6cfd703578e2159df167de01fe7e6195b88995010252d",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_7.npz",
        733,
        "57ad808c8d4dd94dc4404124370bbcebb3dcc597c2bea6457bf05f220adf1527",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_8.npz",
        741,
        "27d4d62a2a6aea2cdc399302237512ab0d64fb0c84e648112f97c5896274e42f",
    ),
    known(
        "splits/wisconsin_split_0.6_0.2_9.npz",
        744,
        "3c149cd124a19021031609e0d7743a7be59aae4f88c8d38410138e8f06f5daaf",
    ),
];
pub(super) const ACTOR_GEOM_GCN: &[RemoteFile] = &[
    known(
        "new_data/film/out1_graph_edges.txt",
        323820,
        "997cdce67ea9c29257d3ffe796328391931901cf823830affa453178b60e2c3e",
    ),
    known(
        "new_data/film/out1_node_feature_label.txt",
        207718,
        "1d5cdd094f8b91e770f6decfca85b35cf42f75d1efb51055fd6af16e11820ff8",
    ),
    known(
        "splits/film_split_0.6_0.2_0.npz",
        4214,
        "4505a41d4e90abd94d1ec22571ce528b09ad7cf20d87f764aebd4177590767f5",
    ),
    known(
        "splits/film_split_0.6_0.2_1.npz",
        4231,
        "1871b0d24e3977c41e378fd24acc8025b63f86b77739be77a5b558d1287f207d",
    ),
    known(
        "splits/film_split_0.6_0.2_2.npz",
        4224,
        "d26680e911ef3ecc9fc2a26d90c9d35028c63aadd7a5aea774649d1496c282cb",
    ),
    known(
        "splits/film_split_0.6_0.2_3.npz",
        4207,
        "6755ad5f6a0be8594b344af3d2261eed935b83b73c4d70136e1a7beea7f78cb0",
    ),
    known(
        "splits/film_split_0.6_0.2_4.npz",
        4233,
        "328fdca62b25074f21f2922518e042f24b3b8a1fc378f9dfb2cae36439aed902",
    ),
    known(
        "splits/film_split_0.6_0.2_5.npz",
        4224,
        "5b3161a8dc8de4b2e651ebd56d68e768d1377044895b325566117fe26ab81cb7",
    ),
    known(
        "splits/film_split_0.6_0.2_6.npz",
        4221,
        "e251b38abd4d7931b5e9ae5aba99dcdf87f0be283bdf6e65421274a1c9ef1df6",
    ),
    known(
        "splits/film_split_0.6_0.2_7.npz",
        4205,
        "12164ef9f5620a2f12a387f4f2b8636859d42201101d6d32829ade62d5a98326",
    ),
    known(
        "splits/film_split_0.6_0.2_8.npz",
        4217,
        "405cd1f7f631f678119f8bf2405809e86614d532985beb59566fcf95abd35b3f",
    ),
    known(
        "splits/film_split_0.6_0.2_9.npz",
        4208,
        "505691c5d41bb37b20d085415dcdde2e8e68b5bc4e1feb2c0e361308002012bb",
    ),
];
pub(super) const OGBN_ARXIV: &[RemoteFile] = &[RemoteFile {
    unpack: Some(Unpack { top: "arxiv", folder: "ogbn_arxiv", limit: 2048 * MIB }),
    ..known("arxiv.zip", 83_058_288, "49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276")
}];
pub(super) const OGBN_PROTEINS: &[RemoteFile] = &[RemoteFile {
    limit: 2048 * MIB,
    unpack: Some(Unpack { top: "proteins", folder: "ogbn_proteins", limit: 8192 * MIB }),
    ..unknown("proteins.zip")
}];
