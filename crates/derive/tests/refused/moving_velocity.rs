use backspin::typed::{Entities, Fixed};

#[derive(Entities)]
enum Thing {
    Man {
        #[along(vx)]
        x: Fixed<0, 9, 16>,
        #[along(ax)]
        vx: Fixed<-9, 9, 16>,
        ax: Fixed<-9, 9, 16>,
    },
}

fn main() {}
