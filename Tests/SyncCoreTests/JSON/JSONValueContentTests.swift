import Foundation
import SyncCore
import Testing

@Suite("Contents of JSON values")
struct JSONValueContentTests {
    private let value: JSONValue = [
        "name": "Ada", "age": 36, "ratio": 1.5, "isActive": true, "none": nil, "tags": ["a", "b"],
        "born": "1815-12-10T00:00:00Z",
    ]

    @Test("Each accessor returns the value of its type, and nil for other kinds")
    func accessors() {
        #expect(value["name"]?.string == "Ada" && value["age"]?.string == nil)
        #expect(value["isActive"]?.bool == true && value["age"]?.bool == nil)
        #expect(value["tags"]?.array == ["a", "b"] && value["name"]?.array == nil)
        #expect(value["tags"]?[1]?.string == "b" && value["tags"]?[2] == nil && value["name"]?[0] == nil)
        #expect(value["none"]?.isNull == true && value["name"]?.isNull == false)
        #expect(value.object?.first?.key == "name" && value["tags"]?.object == nil)
        #expect(value["born"]?.date == Date(timeIntervalSince1970: -4_861_728_000))
        #expect(value["name"]?.date == nil && value["isActive"]?.date == nil)
    }

    @Test(
        "Numbers are read without loss",
        arguments: [
            ("7", 7, "7"), ("7.0", 7, "7"), ("7e0", 7, "7"), ("1.5", nil, "1.5"),
            ("9223372036854775807", Int.max, "9223372036854775807"),
            ("9223372036854775808", nil, "9223372036854775808"),
        ] as [(String, Int?, String)])
    func numbers(text: String, int: Int?, decimal: String) {
        #expect(JSONValue.number(text).int == int)
        #expect(JSONValue.number(text).decimal == Decimal(string: decimal))
        #expect(JSONValue.number(text).double == Double(text))
        #expect(JSONValue.string(text).int == nil && JSONValue.string(text).decimal == nil)
    }

    @Test("A number beyond the range of Double has no Double")
    func infinity() { #expect(JSONValue.number("1e999").double == nil) }
}
