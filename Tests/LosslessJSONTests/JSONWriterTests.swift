import LosslessJSON
import Testing

struct JSONWriterTests {
  @Test("Commas and colons are inserted")
  func insertsCommasAndColons() throws {
    let document = try JSONDocument(text: #"{ "n" : [ 1.10 , { "k" : "\u00e9" } ] }"#)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("a")
    writer.beginArray()
    writer.int(-1)
    writer.bool(false)
    writer.null()
    writer.beginObject()
    writer.endObject()
    writer.endArray()
    writer.name("compact")
    writer.value(document.root)
    writer.name("raw")
    writer.raw(document.root)
    writer.name("text")
    writer.raw("[]")
    writer.endObject()
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"a":[-1,false,null,{}],"compact":{"n":[1.10,{"k":"\u00e9"}]},"#
        + #""raw":{ "n" : [ 1.10 , { "k" : "\u00e9" } ] },"text":[]}"#)
  }

  @Test("The writer appends to existing text")
  func appendsToExistingText() {
    var writer = JSONWriter(appendingTo: Array("data: ".utf8))
    writer.int(1)
    #expect(writer.bytes == Array("data: 1".utf8))
    writer.removeAll()
    writer.string("x")
    #expect(writer.bytes == Array("\"x\"".utf8))
  }

  @Test("Only required characters are escaped")
  func escapesOnlyWhereRequired() throws {
    for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
      let string = "a\(Character(scalar))b"
      var writer = JSONWriter()
      writer.string(string)
      #expect(try JSONDocument(writer.bytes).root.string == string)
      let must = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      #expect(writer.bytes.contains(UInt8(ascii: "\\")) == must)
    }
  }
}
