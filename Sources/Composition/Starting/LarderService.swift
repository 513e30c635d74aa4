import Cluster
import Endpoints
import FoundationEssentials
package import Gateway
package import HTTPServer
package import Logging
import Model
import ServiceLifecycle
package import Transport

/// The running service: listens, serves the deployment of its operations and settings, and ends in order.
///
/// Sockets and connections belong to it, everything that depends on operations to its ``Deployment``, which
/// a reload replaces.
package final class LarderService: Service {
  let share: ProcessShare
  let deployments: DeploymentSlot
  let server: HTTPService
  /// Number of addresses, at the end of the list, that serve only metrics.
  private let metricsListenerCount: Int
  /// Number of addresses that serve only S3.
  let s3ListenerCount: Int
  let queueEndMax: Duration
  private let certificates: ServerCertificates?
  /// The lines of the route table at start, `METHOD /pattern`.
  package let routes: [String]
  var logger: Logger { share.logger }
  private let whenListening: @Sendable ([SocketAddress]) -> Void

  private init(
    _ deployment: Deployment, deployments: DeploymentSlot, share: ProcessShare,
    server: HTTPService, certificates: ServerCertificates?,
    whenListening: @escaping @Sendable ([SocketAddress]) -> Void
  ) {
    let settings = deployment.workspace.settings
    self.share = share
    self.deployments = deployments
    self.server = server
    self.certificates = certificates
    self.whenListening = whenListening
    s3ListenerCount = settings.s3.served.count
    metricsListenerCount = settings.metrics.listen.count
    queueEndMax = EndDeadline.queueMax(settings.drain)
    routes = deployment.handler.served
  }

  /// Opens the store and wires the modules, without listening yet. Waits for a store that another
  /// process holds for `start.lockWait`.
  ///
  /// - Parameters:
  ///   - logRing: the latest lines of the log, for operators.
  ///   - primary: nil without a standby.
  ///   - membership: makes the membership in a cluster, with the loops that serve; nil outside a cluster.
  ///   - whenListening: called by ``run()`` with the addresses, including the ports assigned
  ///     for port 0.
  /// - Throws: ``StartFailure`` for faults that the operator can fix.
  package static func open(
    _ workspace: Workspace, metrics: PrometheusRegistry, logger: Logger,
    logThreshold: LogThreshold = LogThreshold(.info), logRing: LogRing = LogRing(),
    logSink: LineSink? = nil,
    environment: [String: String], primary: PrimaryNode? = nil,
    membership: (@Sendable (EventLoopGroup) throws -> ClusterMembership)? = nil,
    whenListening: @escaping @Sendable ([SocketAddress]) -> Void
  ) async throws -> LarderService {
    let settings = workspace.settings
    let certificates = ServerCertificates(settings.tls)
    let tls = try readAtStart(certificates, logger: logger)
    let group = try EventLoopGroup(count: EventLoopGroup.coreCount)
    do {
      let clientTLS = ClientTLS()
      let cluster = try await ClusterAssembly.join(
        workspace, group: group, tls: clientTLS, logger: logger)
      let share = ProcessShare(
        group: group, clientTLS: clientTLS,
        tracing: try TracingAssembly(
          settings.tracing, group: group, tls: clientTLS, logger: logger),
        logRing: logRing, metrics: metrics, logThreshold: logThreshold, environment: environment,
        reloads: ReloadRecord(), cluster: cluster, primary: primary,
        membership: try cluster?.membership ?? membership?(group), logger: logger)
      let deployment = try await Deployment.open(workspace, share)
      do {
        try await primary?.settle()
      } catch {
        await deployment.close(queueEndMax: .zero)
        throw error
      }
      let deployments = DeploymentSlot(deployment)
      let server = HTTPService(
        configuration: ServerAssembly.configuration(
          settings, tls: tls, deployment: deployment, tracer: share.tracing.tracer,
          nodes: share.membership?.judge, logThreshold: logThreshold, logSink: logSink,
          logger: logger, notReady: { deployments.beginEnd() }),
        group: group, handler: deployment.served)
      metrics.collect {
        (deployments.current?.metrics.families(of: server) ?? []) + ProcessMetrics.families()
          + (primary.map { $0.families } ?? [])
      }
      if !deployment.hasPages {
        logger.warning(
          "the folder of the pages at / was not found; set `public`, or install it with the binary",
          metadata: ["folder": "\(settings.publicFolder ?? "Public")"])
      }
      return LarderService(
        deployment, deployments: deployments, share: share, server: server,
        certificates: certificates, whenListening: whenListening)
    } catch {
      await group.shutdown()
      throw error
    }
  }

  /// Whether the service serves only reads, from a copy of the database.
  var isOnCopy: Bool { deployments.current?.isOnCopy ?? false }

  /// Threads for what blocks.
  var blockingPool: BlockingPool { share.group.blockingPool }

  /// Listens, serves until graceful shutdown, drains, and closes the store.
  ///
  /// Listening begins here and not before, because the service group has trapped the signals by now: a
  /// signal right after the ready line drains too.
  package func run() async throws {
    do {
      let deployment = deployments.current
      await deployment?.prepare()
      let addresses = try await Self.listen(server)
      logStart(addresses, of: deployment)
      if deployment?.noteAddresses(addresses, isSecure: certificates != nil) == false {
        logger.notice(
          "publicUrl is not set: links to files do not work from other machines")
      }
      ProgramPages.release()
      whenListening(addresses)
      share.tracing.start()
      deployment?.start()
      deployments.isListening(on: addresses)
      try await server.run()
    } catch {
      await close()
      throw error
    }
    await close()
    if let failure = deployments.failure { throw failure }
    logger.info("stopped")
  }

  /// Opens a deployment and prepares it for requests.
  func open(_ workspace: Workspace) async throws(StartFailure) -> Deployment {
    do {
      let deployment = try await Deployment.open(workspace, share)
      await deployment.prepare()
      _ = deployment.noteAddresses(deployments.addresses, isSecure: certificates != nil)
      return deployment
    } catch let failure as StartFailure {
      throw failure
    } catch {
      throw StartFailure(.dataFolder, "The service could not be opened: \(error)")
    }
  }

  /// Records the outcome of a reload for `/readyz` and the metrics.
  func note(_ outcome: ReloadReport.Outcome) {
    share.reloads.note(outcome, at: SystemClock.wall.now())
  }

  /// Reloads the certificate files for new connections. If one of them is faulty, all certificates stay
  /// as they were.
  func reloadCertificates() async {
    guard let certificates else {
      return logger.notice("no certificates to reload: tls.certificate is not set")
    }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      await server.replaceTLS(with: context)
      Self.warn(of: context, logger: logger)
      logger.notice("certificates reloaded")
    } catch {
      for fault in error.faults {
        logger.error("certificates were not reloaded", metadata: ["reason": "\(fault)"])
      }
    }
  }

  private static func readAtStart(
    _ certificates: ServerCertificates?, logger: Logger
  ) throws(StartFailure) -> TLSServerContext? {
    guard let certificates else { return nil }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      warn(of: context, logger: logger)
      return context
    } catch {
      throw StartFailure(.faultySettings, error.description)
    }
  }

  private static func warn(of context: TLSServerContext, logger: Logger) {
    let now = SystemClock.wall.now().milliseconds / 1000
    for warning in ServerCertificates.warnings(of: context, secondsSince1970: now) {
      logger.warning("\(warning)")
    }
  }

  private func close() async {
    // A reload that has begun opens its deployment, for the requests that wait for it.
    await deployments.waitForReload()
    await deployments.take()?.close(queueEndMax: queueEndMax)
    await share.primary?.end()
    if let cluster = share.cluster {
      // Nothing is written any more. A node that starts now need not wait for the lease's end.
      if let lease = cluster.lease { try? await cluster.backend.release(lease, to: nil) }
      await cluster.leave()
      await cluster.forwarding.close()
      await cluster.backend.close()
    }
    await share.tracing.end()
    await share.group.shutdown()
  }

  private func logStart(_ addresses: [SocketAddress], of deployment: Deployment?) {
    let scheme = certificates == nil ? "http" : "https"
    let texts = addresses.map { ListeningAddress.text($0, scheme: scheme) }
    var metadata = deployment?.startNotes ?? [:]
    metadata["version"] = "\(Version.text)"
    metadata["addresses"] = "\(texts.dropLast(metricsListenerCount).joined(separator: ","))"
    if metricsListenerCount > 0 {
      metadata["metrics"] = "\(texts.suffix(metricsListenerCount).joined(separator: ","))"
    }
    logger.notice("started", metadata: metadata)
  }

  private static func listen(_ server: HTTPService) async throws(StartFailure) -> [SocketAddress] {
    do throws(ListenError) {
      return try await server.listen()
    } catch {
      throw StartFailure(
        .addressInUse,
        "Larder cannot listen: \(error). Free the address, or set another one with `listen`.")
    }
  }
}
