import Endpoints
package import Gateway
import HTTPClient
import HTTPServer
package import Logging
import Model
package import Transport

/// The membership of a process in a cluster. It stays over changes of role, each of which opens the next
/// deployment.
package struct ClusterMembership: Sendable {
  /// Judges the requests that other nodes forward.
  let judge: NodeJudge
  /// Returns the present role of the node; asked each time that a deployment is opened.
  let role: @Sendable () -> ClusterRole

  /// - Parameter signature: made of the secret that all nodes share.
  package init(
    signature: NodeSignature, role: @escaping @Sendable () -> ClusterRole
  ) {
    judge = .signed(signature, nonces: SeenNonces(), clock: SystemClock.wall)
    self.role = role
  }
}

/// The forwarding of requests to the leader, wired to an HTTP client of its own: a slow leader takes no
/// connection from upstreams.
package struct ForwardingAssembly: Sendable {
  package let duties: ReplicaDuties
  let meters = ClusterMeters()
  private let client: HTTPClient

  /// - Parameters:
  ///   - node: the id of this node.
  ///   - streamsMax: see ``RelayPlaces``.
  ///   - tls: for nodes that advertise `https` addresses; nil if none does.
  package init(
    node: String, signature: NodeSignature, group: EventLoopGroup, tls: TLSClientContext?,
    logger: Logger, streamsMax: Int = RelayPlaces.streamsMax
  ) {
    client = HTTPClient(
      group: group, settings: LeaderForwarder.clientSettings, tls: tls,
      random: { Double.random(in: 0..<1) })
    let link = LeaderLink(
      uptime: { SystemClock.uptime() }, sleep: { try await Task.sleep(for: $0) })
    let meters = meters
    duties = ReplicaDuties(
      link: link,
      forwarder: LeaderForwarder(
        link: link, node: node, client: client, signature: signature, clock: SystemClock.wall,
        random: RandomBytes { UInt8.random(in: 0...UInt8.max) }, logger: logger,
        places: RelayPlaces(streamsMax: streamsMax),
        noteOutcome: { meters.noteForwarded($0) }))
  }

  /// What asks other nodes who they are.
  func ping(_ signature: NodeSignature, of node: String) -> NodePing {
    NodePing(
      signature, asker: node, clock: SystemClock.wall,
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) })
  }

  /// Sends a request that is answered at once.
  var send: @Sendable (HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    { [client] request throws(HTTPClientError) in
      try await client.execute(request, within: .seconds(3))
    }
  }

  /// Closes the connections to other nodes.
  package func close() async { await client.close() }
}
