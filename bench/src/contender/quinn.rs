//! QUIC's unreliable datagrams, on one thread of tokio each side.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn::{
    ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::runtime::Runtime;

use super::{ready_at, socket};
use crate::control::Ready;
use crate::crowd::{self, Trail};
use crate::server::{self, Done};

/// What the certificate says.
const NAME: &str = "localhost";

pub(super) struct Host {
    runtime: Runtime,
    endpoint: Endpoint,
    certificate: Vec<u8>,
    connections: Shared<Vec<Connection>>,
    inputs: Arc<AtomicU64>,
    snapshots: u64,
    tick: u32,
}

type Shared<T> = Arc<Mutex<T>>;

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn endpoint(config: Option<ServerConfig>) -> io::Result<Endpoint> {
    let runtime = Arc::new(TokioRuntime);
    Endpoint::new(EndpointConfig::default(), config, socket()?, runtime)
}

/// As it comes, but for one thing: datagrams that leave in one piece and are cut by the kernel
/// would be counted as one.
fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.enable_segmentation_offload(false);
    Arc::new(transport)
}

/// Waits on the runtime, so that its tasks run meanwhile.
fn wait(runtime: &Runtime, until: Instant) {
    runtime.block_on(async { tokio::time::sleep_until(until.into()).await });
}

impl Host {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        let own = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let certificate = own.cert.der().to_vec();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let mut config = ServerConfig::with_single_cert(vec![own.cert.der().clone()], key)?;
        config.transport_config(transport());
        let runtime = runtime()?;
        let connections = Shared::<Vec<Connection>>::default();
        let inputs = Arc::new(AtomicU64::new(0));
        let endpoint = {
            let _guard = runtime.enter();
            endpoint(Some(config))?
        };
        runtime.spawn(accept(endpoint.clone(), connections.clone(), inputs.clone()));
        Ok(Host { runtime, endpoint, certificate, connections, inputs, snapshots: 0, tick: 0 })
    }

    pub(super) fn ready(&self) -> io::Result<Ready> {
        let certificate = self.certificate.clone();
        Ok(Ready { certificate, ..ready_at(self.endpoint.local_addr()?) })
    }
}

async fn accept(endpoint: Endpoint, connections: Shared<Vec<Connection>>, inputs: Arc<AtomicU64>) {
    while let Some(incoming) = endpoint.accept().await {
        let (connections, inputs) = (connections.clone(), inputs.clone());
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else { return };
            lock(&connections).push(connection.clone());
            while connection.read_datagram().await.is_ok() {
                inputs.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
}

impl server::Host for Host {
    fn tick(&mut self) {
        self.tick += 1;
        let _guard = self.runtime.enter();
        for connection in lock(&self.connections).iter() {
            let snapshot = crowd::snapshot(self.tick).to_vec();
            let sent = connection.send_datagram(snapshot.into());
            self.snapshots += u64::from(sent.is_ok());
        }
    }

    fn wait(&mut self, until: Instant) {
        wait(&self.runtime, until);
    }

    fn done(&self) -> Done {
        Done { inputs: self.inputs.load(Ordering::Relaxed), snapshots: self.snapshots }
    }
}

pub(super) struct Crowd {
    runtime: Runtime,
    connections: Shared<Vec<(usize, Connection)>>,
    /// What came to whom since the last tick.
    came: Shared<Vec<(usize, Vec<u8>)>>,
    trails: Vec<Trail>,
}

impl Crowd {
    pub(super) fn new(
        server: SocketAddr,
        clients: usize,
        ready: &Ready,
    ) -> Result<Self, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(ready.certificate.clone()))?;
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        config.transport_config(transport());
        let runtime = runtime()?;
        let connections = Shared::<Vec<(usize, Connection)>>::default();
        let came = Shared::<Vec<(usize, Vec<u8>)>>::default();
        let guard = runtime.enter();
        for number in 0..clients {
            let endpoint = endpoint(None)?;
            let connecting = endpoint.connect_with(config.clone(), server, NAME)?;
            let (connections, came) = (connections.clone(), came.clone());
            runtime.spawn(async move {
                let Ok(connection) = connecting.await else { return };
                lock(&connections).push((number, connection.clone()));
                while let Ok(snapshot) = connection.read_datagram().await {
                    lock(&came).push((number, snapshot.to_vec()));
                }
                drop(endpoint);
            });
        }
        drop(guard);
        Ok(Crowd { runtime, connections, came, trails: vec![Trail::default(); clients] })
    }
}

impl crowd::Crowd for Crowd {
    fn tick(&mut self) {
        for (number, snapshot) in lock(&self.came).drain(..) {
            self.trails[number].see_bytes(&snapshot);
        }
        let _guard = self.runtime.enter();
        for (number, connection) in lock(&self.connections).iter() {
            // A server that has just ended takes no more.
            let _ = connection.send_datagram(crowd::input(*number).to_vec().into());
        }
    }

    fn wait(&mut self, until: Instant) {
        wait(&self.runtime, until);
    }

    fn trails(&mut self) -> &mut [Trail] {
        &mut self.trails
    }
}
