import Logging
import ServiceLifecycle
import UnixSignals

/// Has the certificates read again at each SIGHUP. Without TLS the signal has no effect, so that a
/// terminal that closes does not end the service either way.
struct CertificateReload: Service {
  let service: LarderService

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      await service.reloadCertificates()
    }
  }
}
