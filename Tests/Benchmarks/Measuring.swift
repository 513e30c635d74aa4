/// The median of several runs of each contestant, taken in turn so that a slow moment of the
/// machine hits all of them.
enum Measuring {
  static let rounds = 7

  static func medians(
    rounds: Int = rounds, _ contestants: [() async throws -> Void]
  ) async throws -> [Duration] {
    var times = Array(repeating: [Duration](), count: contestants.count)
    for round in 0...rounds {
      for (index, contestant) in contestants.enumerated() {
        let time = try await ContinuousClock().measure { try await contestant() }
        // The first round warms caches and the allocator.
        if round > 0 { times[index].append(time) }
      }
    }
    return times.map { $0.sorted()[$0.count / 2] }
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

func ratio(_ measured: Duration, _ held: Duration) -> String {
  "\((measured.microseconds / held.microseconds * 100).rounded() / 100)"
}
