//! The same links as ../data.c makes; see data.h there.

use std::collections::HashSet;

pub const FREE_LINKS: usize = 16;

pub struct Data {
    pub links: usize,
    pub source: Vec<usize>,
    pub target: Vec<usize>,
    pub order: Vec<usize>,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of the links 1 ..= older.
    fn draw(&mut self, power: bool, older: u64) -> usize {
        if !power {
            return (1 + self.next() % older) as usize;
        }
        let levels = u64::from(64 - older.leading_zeros()).max(1);
        loop {
            let low = 1u64 << (self.next() % levels);
            let k = low + self.next() % low;
            if k <= older {
                return k as usize;
            }
        }
    }
}

impl Data {
    pub fn make(power: bool, links: usize) -> Data {
        let mut random = Random(20);
        let mut pairs = HashSet::with_capacity(links);
        let mut source = vec![0; links + 1];
        let mut target = vec![0; links + 1];
        for i in FREE_LINKS + 1..=links {
            loop {
                let a = random.draw(power, i as u64 - 1);
                let b = random.draw(power, i as u64 - 1);
                if a != b && pairs.insert((a.min(b), a.max(b))) {
                    source[i] = a;
                    target[i] = b;
                    break;
                }
            }
        }
        let mut order: Vec<usize> = (1..=links).collect();
        for i in (1..links).rev() {
            let j = (random.next() % (i as u64 + 1)) as usize;
            order.swap(i, j);
        }
        Data { links, source, target, order }
    }
}
