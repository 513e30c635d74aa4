import Composition
import Gateway
import Logging
import Synchronization
import Testing

struct LogThresholdTests {
  @Test("A logger follows the level of the process unless it has its own")
  func aLoggerFollowsTheLevelOfTheProcess() throws {
    let settings = try SettingsFixture().load().settings.log
    let lines = Mutex<[String]>([])
    let threshold = LogThreshold(settings)
    let logger = ProcessLogging.logger("tests", settings: settings, threshold: threshold) {
      line in lines.withLock { $0.append(line) }
    }
    var own = logger
    own.logLevel = .error
    logger.debug("one")
    threshold.level = .debug
    logger.debug("two")
    own.warning("three")
    threshold.level = .error
    logger.warning("four")
    #expect(lines.withLock { $0.map { $0.contains("two") } } == [true])
  }
}
