/// What one loop has counted since it last handed its numbers over.
struct LoopTally {
  /// Answers by the first digit of their status, 1xx first.
  private(set) var requests = [0, 0, 0, 0, 0]
  var connections = 0
  var bytesReceived = 0
  var bytesSent = 0

  mutating func answered(_ status: Int) {
    let index = status / 100 - 1
    if requests.indices.contains(index) { requests[index] += 1 }
  }
}
