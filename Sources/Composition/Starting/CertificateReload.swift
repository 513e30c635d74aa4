import Logging
import ServiceLifecycle
import UnixSignals

/// Has the certificates read again at each SIGHUP. Without TLS the signal has no effect, so that a
/// terminal that closes does not end the service either way.
struct CertificateReload: Service {
  /// Trapped already: one that comes right after the ready line must not end the process.
  let hangups: UnixSignalsSequence
  let service: LarderService

  func run() async throws {
    for await _ in hangups.cancelOnGracefulShutdown() {
      await service.reloadCertificates()
    }
  }
}
