import Model

/// A list as a client has it: what stands where, in which revision.
package struct ListVector: Sendable {
  package struct Row: Hashable, Sendable {
    /// `Type/id`.
    package let id: String
    /// The value of `_rev`.
    package let revision: String

    package init(id: String, revision: String) {
      self.id = id
      self.revision = revision
    }
  }

  package let rows: [Row]

  package init(rows: [Row]) {
    self.rows = rows
  }

  init(_ documents: [EntityDocument]) {
    self.init(rows: documents.map { Row(id: $0.key.description, revision: $0.revision) })
  }

  /// The same for the same rows in the same order.
  var tag: String {
    var text: [UInt8] = []
    for row in rows {
      text += "\(row.id.utf8.count):".utf8
      text += row.id.utf8
      text += row.revision.utf8
      text.append(UInt8(ascii: "\n"))
    }
    return EntityDigest.tag(of: text)
  }

  /// What it takes in memory, roughly.
  var byteCount: Int { rows.reduce(64) { $0 + 64 + $1.id.utf8.count } }

  /// The diff from another vector to this one. Names become numbers that both share.
  package func diff(from old: ListVector) -> ListDiff {
    var numbers = NameNumbers(capacity: rows.count + old.rows.count)
    func elements(_ rows: [Row]) -> [ListElement] {
      rows.map { row in
        // A revision is a digest already: a shorter one of it tells two apart as well.
        ListElement(id: numbers.number(of: row.id), version: NameNumbers.hash(row.revision))
      }
    }
    return ListDiff(from: elements(old.rows), to: elements(rows))
  }
}
