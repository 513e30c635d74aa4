import Model

/// SQL text that grows together with the values of its parameters; no value ever becomes text.
struct BoundSQL {
  private(set) var text = ""
  private(set) var values: [FilterValue] = []

  mutating func append(_ sql: String) { text += sql }

  mutating func append(_ value: FilterValue) {
    values.append(value)
    text += "?"
  }

  mutating func append(_ other: BoundSQL) {
    text += other.text
    values += other.values
  }

  func bind(to statement: PreparedStatement) {
    for (index, value) in values.enumerated() {
      let index = Int32(index + 1)
      switch value {
      case .null: statement.bind(nil as Int64?, at: index)
      case .integer(let number): statement.bind(number, at: index)
      case .real(let number): statement.bind(real: number, at: index)
      case .text(let text): statement.bind(text, at: index)
      }
    }
  }
}
