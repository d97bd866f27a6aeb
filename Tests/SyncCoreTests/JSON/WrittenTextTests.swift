import Foundation
import Testing

@testable import SyncCore

@Suite("Written JSON text")
struct WrittenTextTests {
    @Test("Characters that need an escape are escaped at each place of a string")
    func escapesAreWrittenAtEachPlace() throws {
        for escaped in ["\"", "\\", "\n", "\r", "\t", "\u{0}", "\u{1F}"] {
            for length in 0..<20 {
                for place in 0...length {
                    var text = String(repeating: "é", count: length)
                    text.insert(contentsOf: escaped, at: text.index(text.startIndex, offsetBy: place))
                    #expect(try JSONValue(parsing: JSONText.bytes(of: .string(text))) == .string(text))
                }
            }
        }
    }

    @Test("A whole number has the text of its description", arguments: [0, 7, -7, 10, 255, -1000, .max, .min])
    func wholeNumbersAreWritten(_ number: Int64) {
        var text: [UInt8] = []
        JSONText.append(number, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "\(number)")
    }

    @Test("The exported text of a value is that of its JSON", arguments: Self.values)
    func valuesAreWritten(_ value: StoredValue) throws {
        let values = ExportValues()
        var text = RecordText()
        #expect(values.write(value, nil, levels: .max, to: &text))
        let json = try #require(values.json(value, nil))
        #expect(text.bytes == JSONText.bytes(of: json))
        #expect(json == (value.hasJSONForm ? value.jsonForm : .null))
    }

    private static let values: [StoredValue] = [
        .null, .integer(.min), .double(-0.5), .double(.nan), .double(.infinity), .decimal(12.5), .boolean(true),
        .string("\"é\""), .date(Date(milliseconds: 1_709_231_399_999)), .date(Date(milliseconds: 1_709_231_399_000)),
        .date(.distantFuture.addingTimeInterval(1e12)), .uuid(UUID()), .url("https://example.com/?q=ü"),
        .binary(Data([0, 255])), .json(["a": [1, nil]]),
    ]
}
