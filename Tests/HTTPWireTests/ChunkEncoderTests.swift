import HTTPWire
import Testing

struct ChunkEncoderTests {
  @Test(arguments: [
    (1, "1\r\n"), (15, "f\r\n"), (16, "10\r\n"), (255, "ff\r\n"), (65_536, "10000\r\n"),
  ])
  func writesSizesInHexadecimal(count: Int, expected: String) {
    var output: [UInt8] = []
    ChunkEncoder.appendHead(count: count, to: &output)
    #expect(String(decoding: output, as: UTF8.self) == expected)
  }

  @Test func emptyContentIsNoChunk() {
    var output: [UInt8] = []
    ChunkEncoder.append([], to: &output)
    #expect(output.isEmpty)
  }
}
