import LosslessJSON

/// The parsing of a page of entities of about 1 MiB; compared with 600 MB/s.
enum JSONBenchmark {
  static func run() throws {
    let page = FilmPages.json(count: 2_000)
    var best = Duration.seconds(60)
    for _ in 0..<30 {
      let time = try ContinuousClock().measure {
        let document = try JSONDocument(page)
        precondition(document.root.kind == .object)
      }
      best = min(best, time)
    }
    let speed = Double(page.count) / best.microseconds
    ResultRow(
      name: "json: reading \(page.count) bytes", measured: best.shown,
      result: "\(Int(speed)) MB/s", goal: "≥ 600 MB/s"
    ).show()
  }
}
