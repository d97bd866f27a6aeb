import Testing

@testable import SyncCore

@Suite("Standard transformers")
struct StandardTransformerTests {
    private func conversion(
        _ names: String..., format: AttributeFormat? = nil, as type: AttributeType
    ) throws -> ValueConversion {
        let attribute = SyncModel.Attribute("x", type, transformers: names, format: format)
        let model = try SyncModel(entities: [
            SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .integer), attribute])
        ])
        return try #require(model.conversion(of: attribute))
    }

    @Test(
        "htmlEntities decodes entities once, and exported text decodes to the same text",
        arguments: [
            ("a &amp; b", "a & b"), ("&amp;lt;", "&lt;"), ("&eacute;&Eacute;&#233;&#xE9;&#XE9;", "éÉééé"),
            ("&#8364;&euro;", "€€"),
            ("&#128512;", "😀"), ("&#146;", "’"), ("&apos;&quot;", "'\""), ("&", "&"), ("&&amp;", "&&"),
            ("&amp", "&amp"),
            ("&unknown;", "&unknown;"), ("&#0;", "&#0;"), ("&#xD800;", "&#xD800;"), ("&#x110000;", "&#x110000;"),
            ("&#;&#x;&;", "&#;&#x;&;"), ("&#-5;", "&#-5;"), ("&#99999999999;", "&#99999999999;"), ("plain", "plain"),
            ("", ""),
            ("&thetasym;", "ϑ"), ("e&#x301;&amp;", "e\u{301}&"),
        ])
    func htmlEntitiesRoundTrip(text: String, decoded: String) {
        #expect(HTMLEntities.decoded(text).unicodeScalars.elementsEqual(decoded.unicodeScalars))
        let back = HTMLEntities.encoded(decoded)
        #expect(HTMLEntities.decoded(back).unicodeScalars.elementsEqual(decoded.unicodeScalars))
    }

    @Test(
        "commaSeparated splits a string, and exports a list only if it reads back as the same list",
        arguments: [
            ("\"a, b\"", "[\"a\", \"b\"]", "\"a,b\""), ("\"\"", "[]", "\"\""), ("\" , ,\"", "[]", "\"\""),
            ("5", "[\"5\"]", "\"5\""),
            ("[\"a\", 1]", "[\"a\", 1]", nil), ("[\"a,b\"]", "[\"a,b\"]", nil), ("[\" a\"]", "[\" a\"]", nil),
            ("[\"\"]", "[\"\"]", nil), ("true", nil, nil), ("{}", nil, nil),
        ] as [(String, String?, String?)])
    func commaSeparatedRoundTrips(json: String, stored: String?, back: String?) throws {
        let conversion = try conversion("commaSeparated", as: .json)
        let value = conversion.storedValue(try JSONValue(parsing: json))
        #expect(try value?.jsonForm == stored.map { try JSONValue(parsing: $0) })
        guard let value else { return }
        #expect(try conversion.json(value) == back.map { try JSONValue(parsing: $0) })
    }

    @Test("Transformers form a chain that null ends")
    func transformersFormChain() throws {
        let text = try conversion("htmlEntities", "trimmed", "emptyAsNull", "lowercased", as: .string)
        #expect(text.storedValue(" &Eacute;T&Eacute; ") == .string("été"))
        #expect(text.storedValue("&nbsp;") == .null)
        #expect(text.json(.string("a<b")) == "a&lt;b")
        #expect(text.storedValue(7) == .string("7"))
        let list = try conversion("commaSeparated", "lowercased", as: .json)
        #expect(list.storedValue("A,B") == .json(["a", "b"]))
        #expect(list.json(.json(["a", "b"])) == "a,b")
        let number = try conversion("trimmed", "emptyAsNull", as: .integer)
        #expect(number.storedValue(" 7 ") == .integer(7))
        #expect(number.storedValue(" ") == .null)
        #expect(number.storedValue("x") == nil)
        #expect(number.isUnchangedOnExport)
    }

    @Test("Transformers run before the date format on import and after it on export")
    func transformersRunBeforeFormat() throws {
        let date = try conversion("trimmed", "emptyAsNull", format: .pattern("dd.MM.yyyy"), as: .date)
        let stored = try #require(date.storedValue(" 29.02.2024 "))
        #expect(date.json(stored) == "29.02.2024")
        #expect(date.storedValue("") == .null)
        #expect(date.storedValue("2024-02-29") == nil)
        #expect(try conversion(format: .unixSeconds, as: .date).json(stored) == 1_709_164_800)
    }

    @Test("Custom transformers work in a chain with standard ones in both directions")
    func customTransformersWorkInChain() throws {
        let plusOne = AttributeTransformer("PlusOne") { json in
            Coercion.storedValue(json, as: .integer)?.int.map { .integer($0 + 1) }
        } exporting: { value in
            value.int.map { JSONValue($0 - 1) }
        }
        let twice = AttributeTransformer("Twice") { json in
            Coercion.storedValue(json, as: .integer)?.int.map { .integer($0 * 2) }
        } exporting: { value in
            value.int.map { JSONValue($0 / 2) }
        }
        let attribute = SyncModel.Attribute("x", .integer, transformers: ["trimmed", "PlusOne", "Twice"])
        let model = try SyncModel(entities: [
            SyncModel.Entity("A", attributes: [SyncModel.Attribute("id", .integer), attribute])
        ])
        let conversion = try #require(model.registering(plusOne, twice).conversion(of: attribute))
        #expect(conversion.storedValue(" 3 ") == .integer(8))
        #expect(conversion.json(.integer(8)) == 3)
        #expect(model.missingTransformers.map(\.name) == ["PlusOne", "Twice"])
    }
}
