/// Measures single modules beside what they are held against, in one process and alternating.
///
///     swift run -c release Benchmarks                      # all
///     swift run -c release Benchmarks paths nested         # what was asked for, in one run
///
/// `Scripts/bench modules` runs it among the rest, `Scripts/bench search` the searches of a million texts alone.
/// Only the ratios mean something: machines differ, and so does one machine from hour to hour.
@main
struct Benchmarks {
  static func main() async throws {
    let asked = CommandLine.arguments.dropFirst()
    ResultRow.printHeader()
    let all = [
      "json", "commit", "scale", "delta", "library", "listing", "live", "paths", "nested",
      "localfields",
    ]
    for name in asked.isEmpty ? all[...] : asked[...] {
      switch name {
      case "json": try JSONBenchmark.run()
      case "commit": try await CommitBenchmark.run()
      case "scale": try await ScaleBenchmark.run()
      case "delta": try await DeltaBenchmark.run()
      case "library": try await library()
      case "listing": try await ListingBenchmark.run()
      case "live": try await ListStreamBenchmark.run()
      case "paths": try await PathBenchmark.run()
      case "nested": try await NestedBenchmark.run()
      case "localfields": try await LocalFieldBenchmark.run()
      case "search": try await FrequentWordsBenchmark.run()
      default: print("no benchmark \(name); there are \(all.joined(separator: ", ")), search")
      }
    }
  }

  /// The benchmarks of reads from a library of 100,000 films.
  private static func library() async throws {
    let library = try await FilmLibrary.filled(films: 100_000)
    defer { library.end() }
    try await PageBenchmark.run(library)
    try await SearchBenchmark.run(library)
    try await ListDiffBenchmark.run()
  }
}
