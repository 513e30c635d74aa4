/// One line of the table that the benchmarks print: Markdown, which `Scripts/bench` takes over.
struct ResultRow {
  /// What was done, and to how much.
  let name: String
  let measured: String
  /// What it is held against; empty if against nothing.
  var held = ""
  /// The ratio of both, or a speed: what the goal speaks of.
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
