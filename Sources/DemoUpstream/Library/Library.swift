import LosslessJSON

/// The content of the demo: a value, so that a query reads one state while mutations make the next.
struct Library: Sendable {
  private var tables: [String: Table] = [:]
  /// The other direction of films' references, kept by every change of a film. Ids in the order the films
  /// came.
  private var filmsByReference: [Row.Reference: [String]] = [:]
  private var numberLast: [String: Int] = [:]

  /// The rows of a type of the schema.
  subscript(type: String) -> Table { tables[type] ?? Table() }

  /// Films that refer to a row as their `cast`, `director` or `studio`.
  func filmIDs(_ role: String, _ id: String) -> [String] {
    filmsByReference[Row.Reference(role: role, id: id)] ?? []
  }

  /// The next id with this letter in front: `f1`, `f2`, … An id is never given twice.
  mutating func makeID(_ letter: String) -> String {
    numberLast[letter, default: 0] += 1
    return "\(letter)\(numberLast[letter, default: 0])"
  }

  mutating func put(_ row: Row) {
    set(row.type, row.id, to: row)
  }

  /// Takes a row out of the library; a film also out of every list and every watchlist.
  mutating func remove(_ type: String, _ id: String) {
    set(type, id, to: nil)
    guard type == "Film" else { return }
    for var user in Array(self["User"].rows) where user.refers(to: id, in: "watchlist", "stars") {
      user["watchlist"] = .array((user["watchlist"]?.array ?? []).filter { $0.string != id })
      user["stars"] = .object((user["stars"]?.members ?? []).filter { $0.name != id })
      put(user)
    }
    for var list in Array(self["FilmList"].rows) where list.refers(to: id, in: "filmIds") {
      list["filmIds"] = .array((list["filmIds"]?.array ?? []).filter { $0.string != id })
      put(list)
    }
  }

  private mutating func set(_ type: String, _ id: String, to row: Row?) {
    for reference in self[type][id]?.references ?? [] {
      filmsByReference[reference]?.removeAll { $0 == id }
    }
    for reference in row?.references ?? [] {
      filmsByReference[reference, default: []].append(id)
    }
    tables[type, default: Table()][id] = row
  }
}

/// Rows in insertion order, indexed by id.
struct Table: Sendable {
  /// A removed row leaves its place empty, so that places in the index stay true.
  private var slots: [Row?] = []
  private var placeByID: [String: Int] = [:]

  var count: Int { placeByID.count }
  var rows: some Sequence<Row> { slots.lazy.compactMap { $0 } }

  /// Setting a row replaces the one with its id, appends it, or (nil) removes it.
  subscript(id: String) -> Row? {
    get { placeByID[id].flatMap { slots[$0] } }
    set {
      if let place = placeByID[id] {
        slots[place] = newValue
        if newValue == nil { placeByID[id] = nil }
      } else if let newValue {
        placeByID[id] = slots.count
        slots.append(newValue)
      }
    }
  }
}

/// An object of the library: values by the names of the schema's fields.
///
/// Beside these it has what computed fields need: the ids of other rows (`directorId`, `studioId`, `ownerId`,
/// `filmIds`; `credits` of films and series with `personId`), the `starsSum` and `votes` of a `rating`, and a
/// user's `stars` by film id. All values of a type are in each of its rows, null where absent.
struct Row: Sendable {
  /// What a film refers to.
  struct Reference: Hashable {
    let role: String
    let id: String
  }

  /// The name of its type in the schema.
  let type: String
  let id: String
  private(set) var values: [String: JSONValue]

  init(_ type: String, id: String, _ values: [String: JSONValue]) {
    self.type = type
    self.id = id
    self.values = values
    self.values["id"] = .string(id)
  }

  /// Nil for null.
  subscript(name: String) -> JSONValue? {
    get { values[name].flatMap { $0.isNull ? nil : $0 } }
    set { values[name] = newValue ?? .null }
  }

  func int(_ name: String) -> Int { Int(self[name]?.int64 ?? 0) }

  var castIDs: [String] { (self["credits"]?.array ?? []).compactMap { $0["personId"]?.string } }

  /// The mean of the stars; 0.00 without any vote. The sum is kept, so that removing a vote restores the
  /// previous value.
  var average: Hundredths {
    let sum = self["rating"]?["starsSum"]?.int64 ?? 0
    return Hundredths(votes == 0 ? 0 : (sum * 100 + votes / 2) / votes)
  }

  var votes: Int64 { self["rating"]?["votes"]?.int64 ?? 0 }

  var references: [Reference] {
    guard type == "Film" else { return [] }
    let cast = castIDs.map { Reference(role: "cast", id: $0) }
    let others = ["director", "studio"].compactMap { role in
      self["\(role)Id"]?.string.map { Reference(role: role, id: $0) }
    }
    return cast + others
  }

  fileprivate func refers(to id: String, in names: String...) -> Bool {
    names.contains { self[$0]?[id] != nil || self[$0]?.strings.contains(id) ?? false }
  }
}
