import HTTPClient
import Transport

/// Checks of `cluster`.
extension SettingsChecks {
  var cluster: [SettingsFault] {
    guard settings.cluster.isOn else { return withoutPostgres }
    return clusterNeeds + advertise + clusterFiles + clusterKey
  }

  /// A node that was meant to be in a cluster must not start as a single machine with data of its own.
  private var withoutPostgres: [SettingsFault] {
    // A dump of the settings has all of them that have a value.
    let (written, usual) = (settings.cluster, ClusterSettings())
    let isDumped =
      places["cluster.name"] != nil && written.name == usual.name && written.lease == usual.lease
      && written.isCandidate == usual.isCandidate && written.advertise == nil
    guard !isDumped, places["cluster.postgres"] == nil,
      let name = places.filter({ $0.key.hasPrefix("cluster.") }).min(by: { $0.value < $1.value }
      )?
      .key
    else { return [] }
    return fault(
      name,
      "`\(name)` needs `cluster.postgres`, without which this node is a single machine; set it,"
        + " or remove `cluster`")
  }

  private var clusterNeeds: [SettingsFault] {
    var faults: [SettingsFault] = []
    for (name, isSet) in [
      ("cluster.advertise", settings.cluster.advertise != nil),
      ("cluster.secret", settings.cluster.secret != nil),
    ] where !isSet && places[name] == nil {
      faults += fault("cluster.postgres", "`cluster.postgres` needs `\(name)`")
    }
    return faults
  }

  /// Rejects addresses that are not those of one node.
  private var advertise: [SettingsFault] {
    guard let url = settings.cluster.advertise else { return [] }
    var faults: [SettingsFault] = []
    if url.http.target != "/" {
      faults += fault(
        "cluster.advertise",
        "`cluster.advertise` must not have a path, but has \(url.http.target)")
    }
    if case .host(let host, _) = url.http.origin.endpoint, HostName.isUnspecified(host) {
      faults += fault(
        "cluster.advertise",
        "`cluster.advertise` must be an address of this node, and \(host) means every address of"
          + " a machine; write the one at which the other nodes reach it")
    }
    return faults
  }

  private var clusterFiles: [SettingsFault] {
    guard settings.files.isOn, settings.files.store == .disk else { return [] }
    let written = places["files.store"] == nil ? "cluster.postgres" : "files.store"
    return fault(
      written,
      "`cluster.postgres` needs `files.store: s3`, since the other nodes cannot read files on this"
        + " node's disk; set it, or `files: off`")
  }

  /// Secrets are discarded in one node's database and not in the log.
  private var clusterKey: [SettingsFault] {
    guard settings.start.otherKey == .accept else { return [] }
    return fault(
      "start.otherKey",
      "`start.otherKey: accept` cannot be used in a cluster: all nodes need the same key; set"
        + " LARDER_KEY to that of the other nodes")
  }

  var clusterNotes: [SettingsNote] {
    guard let postgres = settings.cluster.postgres else { return [] }
    return addressNotes(postgres) + leaseNotes + hostNotes(postgres)
  }

  private func addressNotes(_ postgres: PostgresURL) -> [SettingsNote] {
    guard let url = settings.cluster.advertise, let place = places["cluster.advertise"] else {
      return []
    }
    var notes: [SettingsNote] = []
    if case .host(let host, _) = url.http.origin.endpoint, HostName.isLoopback(host),
      !postgres.isLocal
    {
      notes.append(
        SettingsNote(
          place: place,
          message: "`cluster.advertise` is \(host), which other machines cannot reach; write the"
            + " address at which the other nodes reach this one"))
    }
    if let shared = settings.publicURL, shared.http.origin == url.http.origin {
      notes.append(
        SettingsNote(
          place: place,
          message: "`cluster.advertise` is `publicUrl`; if that is a load balancer, requests for"
            + " the leader reach any node"))
    }
    return notes
  }

  private var leaseNotes: [SettingsNote] {
    guard let place = places["cluster.lease"], settings.cluster.lease < .seconds(4) else {
      return []
    }
    return [
      SettingsNote(
        place: place,
        message: "`cluster.lease` is below 4s: a pause of the leader or of PostgreSQL of that time"
          + " changes the leader")
    ]
  }

  private func hostNotes(_ postgres: PostgresURL) -> [SettingsNote] {
    guard let place = places["cluster.postgres"], postgres.hosts.count > 1,
      postgres.parameters["target_session_attrs"] == nil
    else { return [] }
    return [
      SettingsNote(
        place: place,
        message:
          "`cluster.postgres` has several hosts without `target_session_attrs=read-write`, so"
          + " that a node can connect to a standby, which accepts no writes")
    ]
  }
}

extension HostName {
  /// Whether a name or address is this machine: `localhost` and names below it (RFC 6761 section 6.3),
  /// 127.0.0.0/8 and ::1.
  static func isLoopback(_ host: String) -> Bool {
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    return switch SocketAddress(numericHost: name, port: 0) {
    case .ipv4(let octets, _): octets >> 24 == 127
    case .ipv6(0, let low, _, _): low == 1 || low >> 24 == 0xFFFF_7F
    case .ipv6, .unix, nil: false
    }
  }

  /// Whether an address is 0.0.0.0 or ::, to which nothing can be sent.
  static func isUnspecified(_ host: String) -> Bool {
    switch SocketAddress(numericHost: host, port: 0) {
    case .ipv4(0, _), .ipv6(0, 0, _, _): true
    case .ipv4, .ipv6, .unix, nil: false
    }
  }
}
