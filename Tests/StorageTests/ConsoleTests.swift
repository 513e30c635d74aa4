import LosslessJSON
import Model
import Storage
import Synchronization
import Testing

struct ConsoleTests {
  let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture()
  }

  func ask(
    _ sql: String, _ arguments: SQLArguments = .positional([]), rowsMax: Int = 100,
    bytesMax: Int = 1 << 20, mayGoOn: @escaping @Sendable () -> Bool = { true }
  ) async throws(SQLFault) -> SQLResult {
    try await fixture.store.answer(
      SQLQuestion(
        sql: sql, arguments: arguments, rowsMax: rowsMax, bytesMax: bytesMax, mayGoOn: mayGoOn))
  }

  @Test("A statement reads entity tables")
  func readsEntityTables() async throws {
    for id in 1...3 {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: Int64(id))
          .film("\(id)", ["title": .string("Film \(id)"), "year": .number(JSONNumber(2000 + id))])
          .build())
    }
    let answer = try await ask(
      "SELECT key, year, 1.5, NULL, x'00ff' FROM entity_Film WHERE year > :year ORDER BY key;  -- end",
      .named(["year": .integer(2001)]))
    #expect(answer.columns == ["key", "year", "1.5", "NULL", "x'00ff'"])
    #expect(
      answer.rows == [
        [.text("2"), .integer(2002), .real(1.5), .null, .blob([0, 255])],
        [.text("3"), .integer(2003), .real(1.5), .null, .blob([0, 255])],
      ])
    #expect(!answer.isTruncated)
  }

  @Test(
    "Statements that write or read secrets are forbidden",
    arguments: [
      "DELETE FROM scope", "INSERT INTO scope VALUES (9, 9, '', '')", "UPDATE counter SET call = 0",
      "CREATE TABLE mine (a)", "CREATE TEMP TABLE mine (a)", "DROP TABLE scope",
      "ATTACH 'other.sqlite' AS other", "DETACH main", "PRAGMA user_version",
      "PRAGMA journal_mode = DELETE", "SELECT * FROM pragma_database_list", "VACUUM", "REINDEX",
      "BEGIN", "VACUUM INTO 'copy.sqlite'", "ANALYZE", "SELECT load_extension('x')",
      "SELECT token_digest FROM device", "SELECT * FROM device",
      "SELECT 1 FROM device WHERE token_digest > 'a'", "SELECT TOKEN_DIGEST FROM DEVICE",
      "SELECT d.push_token FROM device AS d", "SELECT count(token_digest) FROM device",
      "WITH d AS (SELECT token_digest AS t FROM device) SELECT t FROM d",
      "SELECT id FROM device ORDER BY token_digest", "EXPLAIN SELECT token_digest FROM device",
      "SELECT json_group_array(id) FROM device", "SELECT json_group_object(id, 1) FROM device",
    ])
  func forbidsWritesAndSecrets(sql: String) async throws {
    try await fixture.store.register(DeviceTests.phone("d_1"), tokenDigest: "secret")
    await #expect {
      _ = try await ask(sql)
    } throws: { error in
      guard case .some(.forbidden) = error as? SQLFault else { return false }
      return true
    }
    #expect(try await fixture.store.device(tokenDigest: "secret") != nil)
  }

  /// SQLite 3.40 asks no permission to read columns that outer joins merge by name.
  @Test(
    "Joins by name are refused, in any spelling",
    arguments: ["USING", "using", "NATURAL", "Natural"],
    ["FULL", "LEFT", "RIGHT", "INNER", "/**/ FULL", "--x\n FULL"])
  func refusesJoinsByName(word: String, kind: String) async throws {
    try await fixture.store.register(DeviceTests.phone("d_1"), tokenDigest: "secret")
    let isNatural = word.uppercased() == "NATURAL"
    let join =
      isNatural
      ? "\(word) \(kind) JOIN device" : "\(kind) JOIN device\n\(word)/**/(token_digest)"
    await #expect {
      _ = try await ask("SELECT token_digest FROM (SELECT 'x' AS token_digest) AS x \(join)")
    } throws: { error in
      guard case .some(.refused(let text)) = error as? SQLFault else { return false }
      return text.contains(word.uppercased())
    }
  }

  @Test(
    "The words of such joins can be used in quotes and comments",
    arguments: [
      "SELECT 'using', \"natural\" FROM (SELECT 1 AS \"natural\")", "SELECT 1 -- using",
      "SELECT 1 /* natural */", "SELECT [using] FROM (SELECT 1 AS [using])", "SELECT 1 AS using_it",
      "SELECT 'it''s using'",
    ])
  func takesWordsInQuotes(sql: String) async throws {
    #expect(try await ask(sql).rows.count == 1)
  }

  @Test("Columns without secrets remain readable")
  func otherColumnsAreReadable() async throws {
    try await fixture.store.register(DeviceTests.phone("d_1"), tokenDigest: "secret")
    let answer = try await ask("SELECT id, platform FROM device")
    #expect(answer.rows == [[.text("d_1"), .text("ios")]])
    #expect(try await ask("SELECT count(*) FROM device").rows == [[.integer(1)]])
  }

  @Test(
    "Only a single statement is accepted",
    arguments: [
      "", " ; ", "-- nothing", "SELECT 1; SELECT 2", "SELECT 1; DELETE FROM scope",
      "SELECT 1; nonsense", "SELECT 1; /* a */ SELECT 2",
    ])
  func requiresOneStatement(sql: String) async throws {
    await #expect(throws: SQLFault.notOneStatement) { _ = try await ask(sql) }
  }

  @Test(
    "Trailing semicolons and comments are accepted",
    arguments: ["SELECT 1;;", "SELECT 1 /* a */ -- b", "SELECT 1 ; -- b\n"])
  func acceptsTrailingComments(sql: String) async throws {
    #expect(try await ask(sql).rows == [[.integer(1)]])
  }

  @Test("Errors carry SQLite's message")
  func reportsSQLiteMessages() async throws {
    await #expect(throws: SQLFault.refused("near \"SELEC\": syntax error")) {
      _ = try await ask("SELEC 1")
    }
    await #expect(throws: SQLFault.refused("no such table: missing")) {
      _ = try await ask("SELECT * FROM missing")
    }
  }

  @Test("Arguments must match the statement's parameters")
  func argumentsMustMatch() async throws {
    let count = "the statement has 2 parameters, but 1 arguments were given"
    await #expect(throws: SQLFault.arguments([count])) {
      _ = try await ask("SELECT ?, ?", .positional([.null]))
    }
    let names = ["parameter b has no argument", "the statement has no parameter c"]
    await #expect(throws: SQLFault.arguments(names)) {
      _ = try await ask("SELECT :a, :b", .named(["a": .null, "c": .null]))
    }
  }

  @Test("A statement that runs too long is stopped")
  func stopsLongStatements() async throws {
    let looks = Atomic(0)
    await #expect(throws: SQLFault.tooCostly) {
      _ = try await ask(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        mayGoOn: { looks.wrappingAdd(1, ordering: .relaxed).newValue < 50 })
    }
    #expect(looks.load(ordering: .relaxed) >= 50)
    #expect(try await ask("SELECT 1").rows.count == 1)
  }

  @Test("Results are truncated at the limits of rows and bytes")
  func truncatesResults() async throws {
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    let rows = try await ask(many, rowsMax: 3)
    #expect(rows.rows == [[.integer(1)], [.integer(2)], [.integer(3)]])
    #expect(rows.isTruncated)
    let large = try await ask(
      "SELECT zeroblob(1000) UNION ALL SELECT zeroblob(1001)", bytesMax: 1500)
    #expect(large.rows.count == 1)
    #expect(large.isTruncated)
    await #expect(throws: SQLFault.self) { _ = try await ask("SELECT zeroblob(1000000000)") }
  }

  @Test("A row is counted column by column before it is copied")
  func wideRows() async throws {
    let columns = Array(repeating: "zeroblob(1000000)", count: 40).joined(separator: ", ")
    let answer = try await ask("SELECT \(columns)", bytesMax: 8 << 20)
    #expect(answer.rows.isEmpty)
    #expect(answer.isTruncated)
    let many = Array(repeating: "1", count: 201).joined(separator: ", ")
    await #expect(throws: SQLFault.refused("too many columns in result set")) {
      _ = try await ask("SELECT \(many)")
    }
    await #expect(throws: SQLFault.refused("string or blob too big")) {
      _ = try await ask("SELECT hex(zeroblob(600000))")
    }
  }

  @Test("Tables with more columns than a result can have are readable")
  func wideTables() async throws {
    let columns = (0..<300).map { EntityType.Column(name: "c\($0)", kind: .text) }
    let folder = TemporaryFolder()
    let store = try Store.open(
      StoreConfiguration(folder: folder.path, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: [EntityType(name: "Wide", keyFields: ["id"], columns: columns)])
    let answer = try await store.answer(
      SQLQuestion(
        sql: "SELECT count(c299) FROM entity_Wide", arguments: .positional([]), rowsMax: 1,
        bytesMax: 100, mayGoOn: { true }))
    #expect(answer.rows == [[.integer(0)]])
    store.close()
  }

  @Test(
    "Replaced functions take linear time",
    arguments: [
      "SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1')",
      "SELECT length(replace(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1', ''))",
      "SELECT hex(zeroblob(500000)) LIKE '%' || hex(zeroblob(400)) || '1%'",
      "SELECT hex(zeroblob(500000)) LIKE '%0%0%0%0%0%0%0%0%1'",
      "SELECT length(trim(hex(zeroblob(500000)), '0'))",
      "SELECT printf('%.*c', 1000000, 'x') LIKE '%xxx'",
    ])
  func functionsAreLinear(sql: String) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    _ = try await ask(sql)
    // SQLite's built-in functions took from several seconds to minutes.
    #expect(clock.now - start < .seconds(20))
  }

  @Test(
    "Functions without a linear-time replacement are refused",
    arguments: [
      "SELECT hex(zeroblob(500000)) GLOB '*' || hex(zeroblob(100)) || '*'",
      "SELECT trim(hex(zeroblob(500000)), hex(zeroblob(100)))",
      "SELECT json_patch('{}', '{}')",
    ])
  func refusesQuadraticFunctions(sql: String) async throws {
    await #expect(throws: SQLFault.self) { _ = try await ask(sql) }
  }

  @Test("A running match checks the deadline")
  func stopsInsideAMatch() async throws {
    let looks = Atomic(0)
    await #expect(throws: SQLFault.tooCostly) {
      _ = try await ask(
        "SELECT hex(zeroblob(500000)) LIKE '%0%1%'",
        mayGoOn: { looks.wrappingAdd(1, ordering: .relaxed).newValue < 5 })
    }
    #expect(looks.load(ordering: .relaxed) == 5)
  }

  @Test(
    "Replaced functions return the same values as SQLite's",
    arguments: [
      ("instr('Łódź', 'd')", .integer(3)), ("instr('abc', '')", .integer(1)),
      ("instr('abc', 'x')", .integer(0)), ("instr('aab', 'ab')", .integer(2)),
      ("instr(NULL, 'x')", .null), ("instr(x'00ff10', x'10')", .integer(3)),
      ("instr(1234, 34)", .integer(3)), ("replace('aXbX', 'X', 'yy')", .text("ayybyy")),
      ("replace('abc', '', 'z')", .text("abc")), ("replace('aaa', 'aa', 'b')", .text("ba")),
      ("replace('abc', 'b', NULL)", .null), ("trim('xxaxx', 'x')", .text("a")),
      ("ltrim('xyaxy', 'yx')", .text("axy")), ("rtrim('éaé', 'é')", .text("éa")),
      ("trim('  a ')", .text("a")), ("trim('aaa', 'a')", .text("")),
      ("'Abc' LIKE 'a_C'", .integer(1)), ("'a%' LIKE 'a!%' ESCAPE '!'", .integer(1)),
      ("NULL LIKE 'a'", .null), ("12 LIKE '1%'", .integer(1)),
    ] as [(String, SQLValue)])
  func replacedFunctions(sql: String, value: SQLValue) async throws {
    #expect(try await ask("SELECT \(sql)").rows == [[value]])
  }
}
