import Composition
import Gateway
import Logging
import LosslessJSON
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

  @Test("Numbers of a line are numbers in JSON, and the same text otherwise")
  func numbersAreNumbers() throws {
    for format in ["json", "text"] {
      let settings = try SettingsFixture(yaml: "log: {format: \(format)}").load().settings.log
      let lines = Mutex<[String]>([])
      let logger = ProcessLogging.logger(
        "tests", settings: settings, threshold: LogThreshold(settings)
      ) { line in lines.withLock { $0.append(line) } }
      logger.warning(
        "one", metadata: ["operations": .stringConvertible(12), "name": "34", "cause": "a b"])
      let line = try #require(lines.withLock { $0.first })
      guard format == "json" else {
        #expect(line.hasSuffix(" cause=\"a b\" name=34 operations=12"), "\(line)")
        continue
      }
      let document = try JSONValue(parsing: Array(line.utf8))
      #expect(document["operations"] == 12)
      #expect(document["name"] == "34" && document["cause"] == "a b")
    }
  }
}
