import Glibc

/// Several runs of each contestant, in turn, so that a slow moment of the machine affects all of them.
struct Measuring {
  /// Enough for a stable median on a machine that does other work too.
  static let rounds = 21

  /// The times by contestant, in the order of the rounds.
  private var times: [[Duration]]
  /// The time of all processors that the process used, likewise. On a busy machine it varies less.
  private var used: [[Duration]]

  init(rounds: Int = rounds, _ contestants: [() async throws -> Void]) async throws {
    times = Array(repeating: [], count: contestants.count)
    used = times
    for round in 0...rounds {
      for (index, contestant) in contestants.enumerated() {
        let before = Self.processorTime
        let time = try await ContinuousClock().measure { try await contestant() }
        // The first round warms caches and the allocator.
        guard round > 0 else { continue }
        times[index].append(time)
        used[index].append(Self.processorTime - before)
      }
    }
  }

  /// The median time of a contestant.
  func median(_ contestant: Int) -> Duration {
    times[contestant].sorted()[times[contestant].count / 2]
  }

  /// The medians of the rounds' ratios, of time and of the processors' time: those of one round were taken under
  /// the same conditions.
  func ratio(_ contestant: Int, to other: Int) -> String {
    "\(ratio(of: times, contestant, other)), CPU \(ratio(of: used, contestant, other))"
  }

  private func ratio(of times: [[Duration]], _ contestant: Int, _ other: Int) -> String {
    let ratios = zip(times[contestant], times[other]).map { $0.microseconds / $1.microseconds }
    return hundredths(ratios.sorted()[ratios.count / 2])
  }

  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  private func hundredths(_ value: Double) -> String {
    "\((value * 100).rounded() / 100)"
  }
}

extension Duration {
  var microseconds: Double {
    Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12
  }

  var shown: String {
    let tenths = (microseconds * 10).rounded() / 10
    return tenths >= 10_000 ? "\((tenths / 100).rounded() / 10) ms" : "\(tenths) µs"
  }
}

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
