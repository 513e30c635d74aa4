import Filtering
import Model

/// The rows of a page with their positions, brought up to date by the rows that changed alone.
///
/// A window has a few rows more than its page shows, so that a row that leaves the page is replaced
/// without a read. It is a value without I/O: ``apply(changed:present:)`` says whether it still has all
/// rows of its page.
///
/// It can be kept without its documents: it then still knows which changes concern its page, and a page
/// that one of them concerns is read again.
struct ListWindow: Sendable {
  struct Row: Sendable {
    let key: EntityKey
    let position: EntityPosition
    /// Nil once it was dropped, see ``ListWindow/dropDocuments()``.
    fileprivate(set) var document: EntityDocument?
    let inVector: ListVector.Row

    init(position: EntityPosition, document: EntityDocument) {
      key = document.key
      self.position = position
      self.document = document
      inVector = ListVector.Row(id: document.key.description, revision: document.revision)
    }
  }

  /// Rows beyond the page that a window keeps.
  static let spareMax = 32

  let order: EntityOrder
  /// Whether the order is that of a relationship's members, see ``Filtering/EntityQuery/members``.
  let isByPlace: Bool
  /// The number of rows that the page shows at most.
  let limit: Int
  /// Where the page before it ends; nil for the first page.
  let after: EntityPosition?
  private(set) var rows: [Row]
  /// Whether there are entities after the last row.
  private(set) var hasMore: Bool

  /// The number of rows that a query for a window must ask for.
  static func capacity(limit: Int) -> Int { limit + spareMax }

  /// - Parameters:
  ///   - query: the query of the page, with the page's own limit.
  ///   - rows: all entities from the start of the page on, in order, at most ``capacity(limit:)``.
  init(of query: EntityQuery, rows: [Row], hasMore: Bool) {
    order = query.order
    isByPlace = query.members != nil && query.order.terms.isEmpty
    limit = query.limit
    after = query.after
    self.rows = rows
    self.hasMore = hasMore
  }

  /// The rows of the page.
  var shown: ArraySlice<Row> { rows.prefix(limit) }

  /// Where the next page begins; nil if there is none.
  var next: EntityPosition? {
    rows.count > limit || hasMore ? shown.last?.position : nil
  }

  /// The page's documents; nil if some of them were dropped.
  var documents: [EntityDocument]? {
    let documents = shown.compactMap(\.document)
    return documents.count == shown.count ? documents : nil
  }

  /// The size of the documents of the rows that the page does not show.
  var spareDocumentByteCount: Int {
    rows.dropFirst(limit).reduce(0) { $0 + ($1.document.map { $0.body.count + 64 } ?? 0) }
  }

  mutating func dropDocuments() {
    for index in rows.indices { rows[index].document = nil }
  }

  /// The approximate memory size without documents.
  var byteCount: Int {
    rows.reduce(rows.capacity * MemoryLayout<Row>.stride) { sum, row in
      row.position.values.reduce(sum + Self.bytesARow + 3 * row.key.key.utf8.count) {
        if case .text(let text) = $1 {
          $0 + Self.bytesAValue + text.utf8.count
        } else {
          $0 + Self.bytesAValue
        }
      }
    }
  }

  /// The approximate size of the buffers of a row, beside what its key and values take.
  private static let bytesARow = 160
  private static let bytesAValue = 48

  /// Whether a change concerns the window: one of the entities is in it, or belongs into it now. If not,
  /// ``apply(changed:present:)`` would change nothing.
  ///
  /// - Parameters:
  ///   - changed: all entities that can have changed.
  ///   - present: the positions of those that can belong to the list now.
  func isConcerned(changed: Set<EntityKey>, present: [EntityPosition]) -> Bool {
    let end = hasMore ? rows.last?.position : nil
    if hasMore, end == nil { return true }
    if present.contains(where: { isInReach($0, end: end) }) { return true }
    if changed.count == 1, let key = changed.first { return rows.contains { $0.key == key } }
    return rows.contains { changed.contains($0.key) }
  }

  /// Replaces rows.
  ///
  /// - Parameters:
  ///   - changed: all entities that can have changed.
  ///   - present: those of them that belong to the list now, on whatever page.
  /// - Returns: false if rows of the page are unknown now: it must be read again.
  mutating func apply(changed: Set<EntityKey>, present: [Row]) -> Bool {
    let end = hasMore ? rows.last?.position : nil
    if hasMore, end == nil { return false }
    if changed.count == 1, let key = changed.first {
      if let place = rows.firstIndex(where: { $0.key == key }) { rows.remove(at: place) }
    } else {
      rows.removeAll { changed.contains($0.key) }
    }
    for row in present where isInReach(row.position, end: end) {
      rows.insert(row, at: place(of: row.position))
    }
    let capacity = Self.capacity(limit: limit)
    if rows.count > capacity {
      rows.removeLast(rows.count - capacity)
      hasMore = true
    }
    // Entities after the last row can have been removed unseen: only a row more than the page's shows
    // that another page follows.
    return !hasMore || rows.count > limit
  }

  /// Whether all entities at a position are known: it is not on an earlier page, and not after the last
  /// row while there are entities that have not been read.
  private func isInReach(_ position: EntityPosition, end: EntityPosition?) -> Bool {
    if let after, !isBefore(after, position) { return false }
    guard let end else { return true }
    return !isBefore(end, position)
  }

  /// The index of the first row that is not before a position.
  private func place(of position: EntityPosition) -> Int {
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(rows[middle].position, position) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isBefore(_ left: EntityPosition, _ right: EntityPosition) -> Bool {
    guard isByPlace else { return order.isBefore(left, right) }
    let (left, right) = (left.values.first ?? .null, right.values.first ?? .null)
    return left.isBefore(right)
  }
}
