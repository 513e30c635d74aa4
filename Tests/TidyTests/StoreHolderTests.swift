import Testing

/// Use cases that write are few and known by name. All others are given a `ReadSession`, in which no
/// write can be said.
struct StoreHolderTests {
  /// Files of Gateway that may name the store, and what each has it write.
  private static let holders = [
    "UpstreamFetcher": "what upstream answered",
    "BackupFolder": "copies, of which a session knows nothing",
    "CorrectionService": "an operator's corrections",
    "DeviceRegistry": "devices",
    "ExpiryPass": "what the time has run out of",
    "KnownNetworks": "the networks that accounts have signed in from",
    "MutationRunner": "what mutations answered",
    "OwnDataWrites": "entities of local types",
    "Purger": "purges",
    "PushService": "notifications and registrations",
    "PushWorker": "what became of notifications",
    "QueryReader": "nothing: hands it to its fetcher",
    "QueueWorker": "what became of queued mutations",
    "RegistrationSync": "what the sender was told",
    "RuleReader": "how far rules have read",
    "S3Keys": "access keys",
    "SyncQueue": "queued mutations",
    "TableMaintenance": "tables that go",
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

  /// A session's own words: what a new one writes is to be seen here.
  @Test("A read session has only its known methods")
  func readSessionHasNoOtherMethods() throws {
    let file = try #require(
      SourceTree.sources.first { $0.path == "Sources/Storage/ReadSession.swift" })
    let words = file.lines.compactMap { $0.firstMatch(of: /package func (\w+)\(/)?.1 }
    #expect(
      Set(words.map(String.init)) == [
        "answer", "changes", "counts", "entity", "keepHistory", "page", "probe", "queueLoad",
        "queueStatus", "resolve", "result", "search",
      ])
  }
}
