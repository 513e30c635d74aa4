extension SettingTable {
  private static let day = Duration.seconds(86_400)

  static let cluster = SettingSection(
    "cluster", "Several nodes on one PostgreSQL. See [cluster.md](cluster.md).",
    [
      SettingKey(
        "cluster.postgres", \.cluster.postgres, .optional(.postgresURL), example: Secret.mask,
        doc: "The PostgreSQL that all nodes share, as a connection URI of libpq, such as "
          + "`postgres://larder:PASSWORD@db.example.com/larder?sslmode=verify-full`. A single "
          + "machine if unset. libpq (`libpq5`) must be installed."),
      SettingKey(
        "cluster.advertise", \.cluster.advertise, .optional(.url("http", "https")),
        example: "http://10.0.0.2:8080",
        doc: "URL at which the other nodes reach this node, without a load balancer; without a "
          + "path. Different on each node."),
      SettingKey(
        "cluster.secret", \.cluster.secret, .optional(.secret("a secret", lengthMin: 32)),
        example: Secret.mask,
        doc: "Authenticates the nodes to each other; the same on each node, such as the output of "
          + "`openssl rand -base64 32`."),
      SettingKey(
        "cluster.name", \.cluster.name, .one(.clusterName), example: "shop",
        doc:
          "Name of the cluster, the same on each node. Its tables are in the schema `larder`, or "
          + "`larder_NAME` for another name, so that one database can have several clusters."),
      SettingKey(
        "cluster.lease", \.cluster.lease, .one(.duration(.seconds(2) ... .seconds(60))),
        example: "5s",
        doc: "How long the leader leads without renewing its lease: the time after which another "
          + "node replaces a leader that is gone. The same on each node."),
      SettingKey(
        "cluster.candidate", \.cluster.isCandidate, .one(.boolean), example: "true",
        doc: "Whether this node can become the leader. At least one node must be `true`."),
      SettingKey(
        "cluster.snapshots.every", \.cluster.snapshots.interval,
        .one(.duration(.seconds(60)...(day * 7))), example: "1h",
        doc: "How old the latest snapshot can be until the leader writes another one. New nodes "
          + "start from it, and the log before it is removed."),
      SettingKey(
        "cluster.snapshots.logBytesMax", \.cluster.snapshots.logBytesMax,
        .one(.byteSize((16 << 20)...(1 << 40))), example: "1GiB",
        doc: "Size of the log since the latest snapshot from which the leader writes another one "
          + "at once."),
    ])
}

extension TextForm where Value == PostgresURL {
  static var postgresURL: Self {
    Self(
      noun: "a URL such as postgres://larder@db.example.com/larder", isSecret: true,
      parse: { text, _ throws(ValueRefusal) in
        do throws(ValueRefusal) {
          return try PostgresURL(parsing: text)
        } catch {
          throw ValueRefusal(error.reason, hidesValue: true)
        }
      },
      print: \.description)
  }
}

extension TextForm where Value == String {
  /// A part of the name of a schema of PostgreSQL that needs no quotation.
  static var clusterName: Self {
    Self(
      noun: "a name of 1 to 32 lower-case letters, digits and underscores",
      parse: { text, _ throws(ValueRefusal) in
        guard (1...32).contains(text.utf8.count),
          text.utf8.allSatisfy({
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
          })
        else { throw ValueRefusal() }
        return text
      },
      print: { $0 })
  }
}
