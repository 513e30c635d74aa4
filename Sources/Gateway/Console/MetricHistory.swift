package import Model
import Synchronization

/// The last hour of requests, one point every ten seconds, made from the metrics of the service.
///
/// Requests of operators, health checks and readers of metrics do not count: the console must not show
/// itself.
package final class MetricHistory: Sendable {
  package static let step = Duration.seconds(10)
  package static let pointsMax = 360

  /// Counts since the start, or of one step.
  package struct Counts: Hashable, Sendable {
    package var requests = 0
    /// Responses with a status of 500 or more.
    package var errors = 0
    /// Reads of operations: from the cache and fresh, from the cache and stale, and those that called
    /// upstream.
    package var hit = 0
    package var stale = 0
    package var miss = 0

    static func - (left: Counts, right: Counts) -> Counts {
      Counts(
        requests: max(0, left.requests - right.requests),
        errors: max(0, left.errors - right.errors),
        hit: max(0, left.hit - right.hit), stale: max(0, left.stale - right.stale),
        miss: max(0, left.miss - right.miss))
    }
  }

  /// One step.
  package struct Point: Sendable {
    /// The end of the step.
    package let time: Timestamp
    package let counts: Counts
    /// Quantiles of the time to the end of a response, in seconds; nil without a request.
    package let median: Double?
    package let p99: Double?
  }

  private struct State {
    var points: ArraySlice<Point> = []
    var counts = Counts()
    var durations: MetricFamily.Histogram?
  }

  private let state = Mutex(State())

  package init() {}

  /// Adds the step that ends now.
  package func note(_ families: [MetricFamily], at now: Timestamp) {
    let counts = Self.counts(families)
    let durations = Self.durations(families)
    state.withLock { state in
      let step = durations.map { $0.minus(state.durations) }
      state.points.append(
        Point(
          time: now, counts: counts - state.counts, median: step?.quantile(0.5),
          p99: step?.quantile(0.99)))
      if state.points.count > Self.pointsMax { state.points = state.points.dropFirst() }
      state.counts = counts
      state.durations = durations
    }
  }

  /// Returns the points after a time, oldest first; all without one.
  package func points(after time: Timestamp? = nil) -> [Point] {
    let points = state.withLock { Array($0.points) }
    guard let time else { return points }
    return points.filter { $0.time > time }
  }

  /// Counts since the start.
  package static func counts(_ families: [MetricFamily]) -> Counts {
    var counts = Counts()
    for sample in requests(families) {
      guard case .histogram(let histogram) = sample.value else { continue }
      counts.requests += Int(clamping: histogram.count)
      if sample["status"]?.hasPrefix("5") == true {
        counts.errors += Int(clamping: histogram.count)
      }
    }
    for sample in families.first(where: { $0.name == "larder_cache_responses_total" })?.samples
      ?? []
    {
      guard case .number(let number) = sample.value else { continue }
      switch CacheOutcomeGroup(outcome: sample["outcome"] ?? "") {
      case .hit: counts.hit += Int(number)
      case .stale: counts.stale += Int(number)
      case .miss: counts.miss += Int(number)
      }
    }
    return counts
  }

  private static let requestsName = "larder_http_request_duration_seconds"

  private static func requests(_ families: [MetricFamily]) -> [MetricFamily.Sample] {
    (families.first { $0.name == requestsName }?.samples ?? []).filter {
      let route = $0["route"] ?? ""
      return !route.hasPrefix("/v1/admin/") && !["/healthz", "/readyz", "/metrics"].contains(route)
    }
  }

  private static func durations(_ families: [MetricFamily]) -> MetricFamily.Histogram? {
    MetricFamily.Histogram(summing: requests(families))
  }
}

/// The outcomes of a read of an operation as people count them.
enum CacheOutcomeGroup {
  case hit
  case stale
  case miss

  init(outcome: String) {
    self =
      switch outcome {
      case "hit", "not_modified", "lookup": .hit
      case "stale", "stale_while_revalidate", "stale_if_error": .stale
      default: .miss
      }
  }
}

extension MetricFamily.Histogram {
  /// The sum of histograms with the same buckets; nil without any.
  init?(summing samples: [MetricFamily.Sample]) {
    var sum: MetricFamily.Histogram?
    for sample in samples {
      guard case .histogram(let histogram) = sample.value else { continue }
      guard var total = sum else {
        sum = histogram
        continue
      }
      guard total.bounds == histogram.bounds else { continue }
      for index in total.counts.indices { total.counts[index] &+= histogram.counts[index] }
      total.sum += histogram.sum
      sum = total
    }
    guard let sum else { return nil }
    self = sum
  }

  /// The values since an earlier state.
  func minus(_ earlier: MetricFamily.Histogram?) -> MetricFamily.Histogram {
    guard let earlier, earlier.bounds == bounds else { return self }
    var difference = self
    for index in counts.indices {
      let (now, then) = (counts[index], earlier.counts[index])
      difference.counts[index] = now > then ? now - then : 0
    }
    difference.sum = Swift.max(0, sum - earlier.sum)
    return difference
  }

  /// Estimates a quantile as Prometheus does: values are spread evenly in each bucket, and those above the last
  /// bound count as that bound. Nil without values.
  package func quantile(_ part: Double) -> Double? {
    let total = Double(count)
    guard total > 0, let last = bounds.last else { return nil }
    let rank = part * total
    var below = 0.0
    for (index, bound) in bounds.enumerated() {
      let inside = Double(counts[index])
      if inside > 0, below + inside >= rank {
        let start = index == 0 ? 0 : bounds[index - 1]
        return start + (bound - start) * Swift.max(0, rank - below) / inside
      }
      below += inside
    }
    return last
  }
}
