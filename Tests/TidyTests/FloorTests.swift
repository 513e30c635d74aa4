import Testing

/// The floors of the architecture: a module imports only from lower floors, never from its own, and each
/// technology is used only by its own modules. The package manager checks neither.
struct FloorTests {
  static let floors: [String: Int] = [
    "CLinux": -1, "COpenSSL": -1, "CResources": -1, "CZlib": -1,
    "LosslessJSON": 0, "HTTPWire": 0, "Transport": 0, "Cryptography": 0,
    "Model": 1, "GraphQL": 1, "S3Wire": 1,
    "Sealing": 2, "Storage": 2, "HTTPServer": 2, "HTTPClient": 2,
    "Accounts": 3, "Files": 3, "Push": 3, "Upstream": 3,
    "Gateway": 4, "S3": 4,
    "Endpoints": 5,
    "Composition": 6, "DemoUpstream": 6,
    "larder": 7,
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

  /// A module or technology, and the only modules that may import it.
  @Test(
    "Each technology is imported only by its own modules",
    arguments: [
      ("GRDB", ["Storage"]),
      ("GRDBSQLite", ["Storage"]),
      ("COpenSSL", ["Transport", "Cryptography"]),
      ("Accounts", ["Gateway", "Composition"]),
      ("CLinux", ["Transport"]),
      ("CResources", ["Composition", "DemoUpstream"]),
      ("Dispatch", ["Transport"]),
      ("Glibc", ["Transport", "Files"]),
      ("Files", ["Gateway", "S3", "Composition"]),
      ("S3Wire", ["Gateway", "Endpoints", "S3", "Composition"]),
      ("S3", ["Composition"]),
      ("Push", ["Gateway", "Composition"]),
      ("CZlib", ["HTTPServer", "HTTPClient"]),
      ("ArgumentParser", ["larder"]),
      ("Yams", ["Composition"]),
      ("HTTPServer", ["Endpoints", "Composition", "DemoUpstream"]),
      ("Storage", ["Accounts", "Files", "Gateway", "Composition"]),
      ("Upstream", ["Gateway", "Composition"]),
      ("HTTPClient", ["Accounts", "Push", "S3", "Upstream", "Composition"]),
      ("DemoUpstream", ["larder"]),
    ])
  func technologyStaysInItsRoom(technology: String, rooms: [String]) {
    for file in SourceTree.sources where file.imports.contains(technology) {
      #expect(rooms.contains(file.module), "\(file.path) imports \(technology)")
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
