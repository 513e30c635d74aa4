/// A thing of the library that is found by its id.
protocol Row: Sendable {
  var id: String { get }
}

/// Rows in the order they came, each found by its id.
struct Table<Element: Row>: Sendable {
  /// A removed row leaves its place empty, so that places in the index stay true.
  private var slots: [Element?] = []
  private var placeByID: [String: Int] = [:]

  var count: Int { placeByID.count }
  var rows: some Sequence<Element> { slots.lazy.compactMap { $0 } }

  mutating func reserve(_ capacity: Int) {
    slots.reserveCapacity(capacity)
    placeByID.reserveCapacity(capacity)
  }

  /// Setting a row replaces the one with its id, appends it, or (nil) removes it.
  subscript(id: String) -> Element? {
    get { placeByID[id].flatMap { slots[$0] } }
    set {
      switch (placeByID[id], newValue) {
      case (let place?, let row?): slots[place] = row
      case (nil, let row?):
        placeByID[id] = slots.count
        slots.append(row)
      case (let place?, nil):
        slots[place] = nil
        placeByID[id] = nil
      case (nil, nil): return
      }
    }
  }
}
