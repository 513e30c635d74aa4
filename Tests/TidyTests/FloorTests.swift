import Testing

/// The floors of the architecture: a module imports only from lower floors, never from its own, and each
/// technology is used only by its own modules. The package manager checks neither.
struct FloorTests {
  static let floors: [String: Int] = [
    "CLinux": -1, "COpenSSL": -1, "CPostgreSQL": -1, "CResources": -1, "CZlib": -1,
    "LosslessJSON": 0, "HTTPWire": 0, "Transport": 0, "Cryptography": 0,
    "Model": 1, "GraphQL": 1, "S3Wire": 1, "Traces": 1, "WebSocketWire": 1,
    "Filtering": 2, "SyncScheduler": 2, "WebSockets": 2,
    "Storage": 3, "HTTPServer": 3, "HTTPClient": 3, "PostgreSQL": 3,
    "Accounts": 4, "Cluster": 4, "Files": 4, "Standby": 4, "Upstream": 4,
    "Gateway": 5, "Generation": 5, "S3FileStore": 5,
    "Endpoints": 6,
    "Composition": 7, "DemoUpstream": 7,
    "larder": 8,
  ]

  @Test("The source tree is found, with every module of the floors")
  func findsTheSources() {
    #expect(SourceTree.sources.count > 100)
    #expect(Set(SourceTree.sources.map(\.module)) == Set(Self.floors.filter { $0.value >= 0 }.keys))
  }

  @Test("A module imports only modules of lower floors")
  func importsOnlyFromLowerFloors() throws {
    for file in SourceTree.sources {
      let floor = try #require(Self.floors[file.module], "\(file.path): no floor for its module")
      for name in file.imports {
        guard let other = Self.floors[name] else { continue }
        #expect(other < floor, "\(file.path) imports \(name), which is not below it")
      }
    }
  }

  /// A module or technology, and the only modules, or folders of a module, that may import it.
  @Test(
    "Each technology is imported only by its own modules",
    arguments: [
      ("GRDB", ["Storage"]),
      ("GRDBSQLite", ["Storage"]),
      ("COpenSSL", ["Transport", "Cryptography"]),
      ("Accounts", ["Gateway", "Composition"]),
      ("CLinux", ["Transport"]),
      ("CPostgreSQL", ["PostgreSQL"]),
      ("PostgreSQL", ["Cluster"]),
      ("CResources", ["Composition", "DemoUpstream"]),
      ("Dispatch", ["Transport"]),
      (
        "Glibc",
        ["Transport", "Files", "Standby/Objects", "Storage/BackingUp", "Storage/Replicating"]
      ),
      ("Files", ["Gateway", "S3FileStore", "Composition"]),
      ("S3Wire", ["Endpoints", "S3FileStore"]),
      ("S3FileStore", ["Composition"]),
      ("Standby", ["Composition"]),
      ("CZlib", ["HTTPServer", "HTTPClient", "Standby/Objects", "WebSocketWire"]),
      ("WebSockets", ["HTTPServer", "HTTPClient"]),
      ("ArgumentParser", ["larder"]),
      ("Yams", ["Composition"]),
      ("HTTPServer", ["Endpoints", "Composition", "DemoUpstream"]),
      ("Storage", ["Accounts", "Files", "Gateway", "Composition"]),
      ("Upstream", ["Gateway", "Generation", "Composition"]),
      ("Generation", ["Composition", "larder"]),
      (
        "HTTPClient",
        [
          "Accounts", "Gateway/Clustering", "Gateway/HooksOut", "Gateway/Push/OneSignal",
          "Gateway/TraceExport",
          "S3FileStore", "Upstream", "Composition",
        ]
      ),
      ("DemoUpstream", ["larder"]),
    ])
  func technologyStaysInItsRoom(technology: String, rooms: [String]) {
    for file in SourceTree.sources where file.imports.contains(technology) {
      #expect(
        rooms.contains { file.path.hasPrefix("Sources/\($0)/") },
        "\(file.path) imports \(technology)")
    }
  }

  /// Only Composition chooses the sender; the use cases know the protocol.
  @Test("No use case names a push vendor's types")
  func useCasesNameNoVendor() throws {
    let name = try Regex(#"\bOneSignal[A-Z]"#)
    for file in SourceTree.sources
    where file.module == "Gateway" && !file.path.contains("/Push/OneSignal/") {
      for line in file.lines {
        #expect(line.firstMatch(of: name) == nil, "\(file.path) names OneSignal: \(line)")
      }
    }
  }

  /// One word, one thing: two types of one name in two modules are read as one.
  @Test("No top-level type of one module has the name of another module's")
  func namesAreUsedOnce() throws {
    let declaration = try Regex(
      #"^(?:(?:package|public|final|indirect|@\w+) )*(?:struct|class|enum|actor|protocol) (\w+)"#)
    var modules: [String: Set<String>] = [:]
    for file in SourceTree.sources {
      for line in file.lines {
        guard let name = try declaration.firstMatch(in: line)?.output[1].substring else { continue }
        modules[String(name), default: []].insert(file.module)
      }
    }
    #expect(modules.count > 500)
    for (name, places) in modules where places.count > 1 {
      Issue.record("\(name) is a type of \(places.sorted().joined(separator: " and "))")
    }
  }
}
