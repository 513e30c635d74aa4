import Foundation
import Model

/// The time of day, by which requests are signed.
enum TestClock {
  static let wall = WallClock {
    Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }
}
