/// Where a setting was written. The order is the order in which faults are reported.
package enum SettingPlace: Hashable, Sendable, CustomStringConvertible {
  /// 1-based; columns count Unicode scalars.
  case file(name: String, line: Int, column: Int)
  /// The file as a whole, or the lack of it.
  case wholeFile(name: String)
  case environment(variable: String)
  /// `index` is the flag's place on the command line.
  case flag(spelling: String, index: Int)

  package var description: String {
    switch self {
    case .file(let name, let line, let column): "\(name):\(line):\(column)"
    case .wholeFile(let name): name
    case .environment(let variable): variable
    case .flag(let spelling, _): spelling
    }
  }
}

extension SettingPlace: Comparable {
  package static func < (left: SettingPlace, right: SettingPlace) -> Bool {
    switch (left, right) {
    case (.file(_, let line, let column), .file(_, let otherLine, let otherColumn)):
      (line, column) < (otherLine, otherColumn)
    case (.environment(let variable), .environment(let other)):
      variable < other
    case (.flag(_, let index), .flag(_, let other)):
      index < other
    default:
      left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .file: 0
    case .wholeFile: 1
    case .environment: 2
    case .flag: 3
    }
  }
}
