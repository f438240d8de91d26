#![allow(unsafe_code)]
use crate::kernels::dense::*; use crate::kernels::finish::Finish; use crate::kernels::spmm::*; use crate::threads::Threads;
use std::time::Instant;
fn med(mut f: impl FnMut()) -> f64 { let mut v: Vec<f64> = (0..15).map(|_| { let t = Instant::now(); f(); t.elapsed().as_secs_f64()*1e3 }).collect(); v.sort_by(f64::total_cmp); v[7] }
#[test] #[ignore]
fn speed() {
    for th in [1usize, 2] {
    let threads = Threads::new(th).unwrap();
    for (m,k,n) in [(2708,64,8),(2708,64,64),(13752,767,64),(169343,128,64),(169343,64,40),(5000,2,64),(5000,64,16), (2708,5732,64)] {
        let a: Vec<f32> = (0..m*k).map(|i| (i%17) as f32*0.1).collect();
        let b: Vec<f32> = (0..n*k).map(|i| (i%13) as f32*0.1).collect();
        let mut c = vec![0f32; m*n]; let mut p = Panels::default();
        let t = med(|| { p.pack(&b,k,n); matmul(&threads,&a,&p,&mut c,Into::Set,Finish::Keep); });
        let par = if th>1 { gemm::Parallelism::Rayon(2) } else { gemm::Parallelism::None };
        let mut c2 = vec![0f32; m*n];
        let t2 = med(|| unsafe { gemm::gemm(m,n,k,c2.as_mut_ptr(),1,n as isize,false,a.as_ptr(),1,k as isize,b.as_ptr(),1,n as isize,0.0,1.0,false,false,false,par) });
        let gf = 2e-6*(m*n*k) as f64;
        let mut dw = vec![0f32; k*n]; let mut part = vec![];
        let t3 = med(|| { dw.fill(0.0); transposed_matmul(&threads,&a,&c,(k,n),&mut part,&mut dw) });
        let t4 = med(|| unsafe { gemm::gemm(k,n,m,dw.as_mut_ptr(),1,n as isize,false,a.as_ptr(),k as isize,1,c.as_ptr(),1,n as isize,0.0,1.0,false,false,false,par) });
        println!("th{th} {m}x{k}x{n}: ours {t:.3} ms {:.0} GF/s, gemm {t2:.3} {:.0} | AtG ours {t3:.3} {:.0} gemm {t4:.3} {:.0}", gf/t, gf/t2, gf/t3, gf/t4);
    }
    for (nodes, edges, w) in [(5000usize,60000usize,16usize),(2708usize,10556usize,64usize),(2708,10556,8),(13752,491722,64),(13752,491722,16),(169343,2330000,64),(169343,2330000,40),(169343,2330000,128)] {
        let mut deg = vec![0usize; nodes+1]; let mut x = 12345u64; let mut r = || { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (x>>33) as usize };
        let mut pairs: Vec<(u32,u32)> = (0..edges).map(|_| ((r()%nodes) as u32,(r()%nodes) as u32)).collect(); pairs.sort_unstable();
        for p in &pairs { deg[p.0 as usize+1]+=1; } for i in 0..nodes { deg[i+1]+=deg[i]; }
        let cols: Vec<u32> = pairs.iter().map(|p| p.1).collect(); let vals = vec![0.5f32; edges];
        let d = vec![1f32; nodes*w]; let mut out = vec![0f32; nodes*w];
        let t = med(|| spmm(&threads, Csr{offsets:&deg,columns:&cols,values:&vals}, &d, w, None, &mut out, Finish::Keep));
        println!("th{th} spmm {nodes} {edges} w{w}: {t:.3} ms {:.0} Medges/s {:.1} GB/s", edges as f64/t/1e3, (edges*w*4) as f64/t/1e6);
    }
    // sparse features computers
    for (rows, cols_n, per) in [(13752usize, 767usize, 268usize),(2708,1433,18)] {
        let w=64; let off: Vec<usize> = (0..=rows).map(|i| i*per).collect(); let mut x=99u64; let mut r = || { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (x>>33) as usize };
        let mut cols=vec![]; for _ in 0..rows { let mut v: Vec<u32> = (0..per).map(|_| (r()%cols_n) as u32).collect(); v.sort(); cols.extend(v); }
        let vals=vec![0.1f32; cols.len()]; let wm=vec![0.2f32; cols_n*w]; let mut out=vec![0f32; rows*w];
        let t = med(|| spmm(&threads, Csr{offsets:&off,columns:&cols,values:&vals}, &wm, w, None, &mut out, Finish::Keep));
        // transpose
        let mut toff=vec![0usize; cols_n+1]; for &c in &cols { toff[c as usize+1]+=1; } for i in 0..cols_n { toff[i+1]+=toff[i]; }
        let mut cur=toff.clone(); let mut tc=vec![0u32; cols.len()]; for i in 0..rows { for e in off[i]..off[i+1] { let c=cols[e] as usize; tc[cur[c]]=i as u32; cur[c]+=1; } }
        let mut dw=vec![0f32; cols_n*w];
        let t2 = med(|| spmm(&threads, Csr{offsets:&toff,columns:&tc,values:&vals}, &out, w, None, &mut dw, Finish::Keep));
        println!("th{th} X {rows}x{cols_n} nnz {}: XW {t:.3} XtG {t2:.3}", cols.len());
    }
    }
}
