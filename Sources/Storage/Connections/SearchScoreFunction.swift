import GRDB
import GRDBSQLite

/// `search_score(index)`: the ``SearchScore`` of a matching row of a ``SearchIndex``, an auxiliary function of
/// FTS5 (<https://www.sqlite.org/fts5.html#custom_auxiliary_functions>).
///
/// It takes the places of words from the index and reads the texts only for their lengths, where `highlight`
/// splits each text into words again: a tenth of the time. The last column holds the scope, not text.
enum SearchScoreFunction {
  static let name = "search_score"

  static func install(on db: Database, _ slot: WatchSlot) throws {
    let api = UnsafeMutablePointer(mutating: FTS5.api(db))
    let code = api.pointee.xCreateFunction(
      api, name, Unmanaged.passRetained(slot).toOpaque(),
      { api, index, context, _, _ in
        guard let api, let index, let context else { return }
        SearchScoreFunction.run(api.pointee, index, context)
      },
      { context in
        if let context { Unmanaged<WatchSlot>.fromOpaque(context).release() }
      })
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private static func run(
    _ api: Fts5ExtensionApi, _ index: OpaquePointer, _ context: OpaquePointer
  ) {
    if let data = api.xUserData(index),
      !Unmanaged<WatchSlot>.fromOpaque(data).takeUnretainedValue().mayGoOn
    {
      sqlite3_result_error(context, "interrupted", -1)
      return sqlite3_result_error_code(context, SQLITE_INTERRUPT)
    }
    let fields = api.xColumnCount(index) - 1
    var score = SearchScore()
    var code = addPlaces(api, index, fields, to: &score)
    if code == SQLITE_OK { code = addTexts(api, index, fields, to: &score) }
    guard code == SQLITE_OK else { return sqlite3_result_error_code(context, code) }
    sqlite3_result_double(context, score.value)
  }

  private static func addPlaces(
    _ api: Fts5ExtensionApi, _ index: OpaquePointer, _ fields: Int32, to score: inout SearchScore
  ) -> Int32 {
    var count: Int32 = 0
    var code = api.xInstCount(index, &count)
    guard code == SQLITE_OK else { return code }
    var (phrase, column, first): (Int32, Int32, Int32) = (0, 0, 0)
    for number in 0..<count {
      code = api.xInst(index, number, &phrase, &column, &first)
      guard code == SQLITE_OK else { return code }
      guard column < fields else { continue }
      score.addPlace(
        inColumn: Int(column), first: Int(first), count: Int(api.xPhraseSize(index, phrase)))
    }
    return SQLITE_OK
  }

  private static func addTexts(
    _ api: Fts5ExtensionApi, _ index: OpaquePointer, _ fields: Int32, to score: inout SearchScore
  ) -> Int32 {
    for field in 0..<fields {
      var text: UnsafePointer<CChar>?
      var count: Int32 = 0
      let code = api.xColumnText(index, field, &text, &count)
      guard code == SQLITE_OK else { return code }
      guard let text, count > 0 else { continue }
      text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
        score.addText(UnsafeBufferPointer(start: $0, count: Int(count)))
      }
    }
    return SQLITE_OK
  }
}
