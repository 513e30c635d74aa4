/// A line of the table that the benchmarks print: Markdown, which `Scripts/bench` includes in its report.
struct ResultRow {
  /// The operation and its size.
  let name: String
  let measured: String
  /// The time it is compared with; empty for none.
  var held = ""
  /// The ratio of both, or a speed: the figure that the goal refers to.
  var result = ""
  var goal = ""

  static func printHeader() {
    print("| | measured | held against | result | goal |")
    print("|---|---|---|---|---|")
  }

  func show() {
    print("| \(name) | \(measured) | \(held) | \(result) | \(goal) |")
  }
}
