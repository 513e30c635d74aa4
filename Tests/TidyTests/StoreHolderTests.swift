import Testing

/// The use cases that write are few and listed here. All others get a `ReadSession`, which has no methods
/// that write.
struct StoreHolderTests {
  /// The files of Gateway that may name the store, and what each writes.
  private static let holders = [
    "AccountDirectory": "ends of sessions, disabled accounts",
    "UpstreamFetcher": "upstream responses",
    "BackupFolder": "backups, which a session does not offer",
    "CorrectionService": "an operator's corrections",
    "CredentialRenewal": "credentials of queued mutations",
    "DeliveryBatcher": "messages of webhooks",
    "DeviceRegistry": "devices",
    "EntityPull": "entities that polls and standing subscriptions fetch",
    "ExpiryPass": "removals of expired data",
    "HookService": "nothing: passes the store to its batcher",
    "HookWorker": "deliveries of the events of hooks",
    "KnownNetworks": "the networks that accounts have signed in from",
    "LingeringOverlays": "removals of overlays",
    "MutationRunner": "responses to mutations",
    "OutgoingHooks": "the outbox of hooks",
    "OwnDataWrites": "entities of local types",
    "Purger": "purges",
    "InboxDrainer": "submissions from the inbox of a cluster, into queues",
    "InboxMirror": "nothing: reads which submissions the store does not have",
    "InboxSubmitter": "nothing: reads the mutations that have a key",
    "PushService": "notifications and registrations",
    "PushWorker": "outcomes of notifications",
    "QueryReader": "nothing: passes the store to its fetcher",
    "QueueRecovery": "queues after a start",
    "QueueWorker": "outcomes of queued mutations",
    "RegistrationSync": "registrations sent to the push service",
    "RuleReader": "positions of push rules",
    "S3Keys": "access keys",
    "SubscriptionHub": "nothing: passes the store to its writer",
    "SubscriptionWriter": "events of subscriptions",
    "SyncQueue": "queued mutations",
    "TableMaintenance": "removals of tables",
  ]

  private static func names(_ file: SourceTree.File) -> Bool {
    file.lines.contains { line in
      let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line[...]
      return code.firstMatch(of: /\bStore\b/) != nil
    }
  }

  private static let named: Set<String> = Set(
    SourceTree.sources.filter { $0.module == "Gateway" && names($0) }.map { file in
      String(file.path.split(separator: "/").last?.prefix { $0 != "." } ?? "")
    })

  @Test("Only the listed files of Gateway hold the store")
  func onlyListedFilesHoldTheStore() {
    #expect(Self.named.subtracting(Self.holders.keys).sorted() == [])
  }

  @Test("Every listed file holds the store")
  func everyListedFileHoldsTheStore() {
    #expect(Set(Self.holders.keys).subtracting(Self.named).sorted() == [])
  }

  /// The methods of a session: a new one that writes must be noticed here.
  @Test("A read session has only its known methods")
  func readSessionHasNoOtherMethods() throws {
    let file = try #require(
      SourceTree.sources.first { $0.path == "Sources/Storage/ReadSession.swift" })
    let words = file.lines.compactMap { $0.firstMatch(of: /package func (\w+)\(/)?.1 }
    #expect(
      Set(words.map(String.init)) == [
        "answer", "changes", "copies", "counts", "entity", "explain", "fileBuckets", "history",
        "keepHistory",
        "page", "probe", "queueLoad", "queueStatus", "related", "resolve", "result", "search",
      ])
  }
}
