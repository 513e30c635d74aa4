/// Columns padded to their widest cell, for terminals.
struct TextTable {
  private var rows: [[String]] = []

  init(_ header: String...) {
    rows.append(header)
  }

  mutating func add(_ cells: String...) {
    rows.append(cells)
  }

  var text: String {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      row.enumerated().map { column, cell in
        column == row.count - 1
          ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
