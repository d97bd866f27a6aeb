import Foundation
import SyncCore
import TestSize
import Testing

@Suite("Invalid Core Data models")
struct BadCoreDataModelTests {
    @Test(
        "A mistake in a Core Data model is reported with its path",
        arguments: [
            ("<attribute name=\"x\" attributeType=\"Number\"/>", "entities.A.attributes.x.type", "'Number' (line 4)"),
            ("<attribute attributeType=\"Date\"/>", "entities.A.attributes", "<attribute> has no name (line 4)"),
            (
                "<attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"many\"/>",
                "entities.A.attributes.x.default", "'many' is not a value of type integer"
            ),
            (
                "<attribute name=\"x\" attributeType=\"Date\" defaultDateTimeInterval=\"soon\"/>",
                "entities.A.attributes.x.default", "'soon' is not a value"
            ),
            (
                "<attribute name=\"x\" attributeType=\"Date\" defaultDateTimeInterval=\"1e300\"/>",
                "entities.A.attributes.x.default", "'1e300' is not a value"
            ),
            ("<relationship name=\"r\"/>", "entities.A.relationships.r.entity", "has no destination (line 4)"),
            ("<relationship destinationEntity=\"A\"/>", "entities.A.relationships", "<relationship> has no name"),
            (
                "<relationship name=\"r\" destinationEntity=\"A\" deletionRule=\"Drop\"/>",
                "entities.A.relationships.r.deleteRule", "'Drop'"
            ),
            (
                "<relationship name=\"r\" destinationEntity=\"B\"/>", "entities.A.relationships.r.entity",
                "unknown entity"
            ),
            (
                "<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\"/>",
                "entities.A.relationships.r.inverse", "no relationship 's'"
            ),
        ])
    func reportsPathOfMistake(element: String, path: String, message: String) throws {
        let error = try #require(throws: SyncError.self) {
            try SyncModel(coreDataElements: "<entity name=\"A\">\n\(element)</entity>")
        }
        #expect(error.code == .invalidModel)
        #expect(error.problems.map(\.path) == [path])
        #expect(error.problems.first?.message.contains(message) ?? false, "\(error)")
    }

    @Test("All mistakes of a Core Data model are reported together")
    func reportsAllMistakes() throws {
        let error = try #require(throws: SyncError.self) {
            try SyncModel(
                coreDataElements: """
                    <entity/>
                    <entity name="A" parentEntity="Z">
                      <attribute name="x" attributeType="Number"/>
                      <attribute name="sync_state" optional="YES" attributeType="String"/>
                      <relationship name="b" destinationEntity="B" deletionRule="Never" inverseName="a"/>
                    </entity>
                    <entity name="B"><relationship name="a" destinationEntity="B" inverseName="b"/></entity>
                    """)
        }
        #expect(
            error.problems.map(\.path) == [
                "entities", "entities.A.attributes.x.type", "entities.A.relationships.b.deleteRule",
                "entities.A.attributes.sync_state", "entities.A.parent", "entities.A.relationships.b.inverse",
                "entities.B.relationships.a.inverse",
            ])
    }

    @Test(
        "Malformed XML is reported with its line and column",
        arguments: [
            ("<model>\n <entity name=\"A\">\n  <attribute</entity></model>", 3),
            ("<model>\n <entity name=\"A\">\n </model>", 3), ("<model a='1' a='2'/>", 1), ("hello", 1),
            ("<model/>\n<model/>", 2), ("<model>&nothing;</model>", 1), ("<model>\n", 1), ("<model x=\"\u{1}\"/>", 1),
            ("<entities/>", 1), ("<model>\n<!DOCTYPE a></model>", 2), (deep(100), 1), (deep(120_000), 1),
            (String(repeating: "<model>", count: 100_000), 1),
        ])
    func reportsLocationOfMalformedXML(text: String, line: Int) throws {
        let error = try #require(throws: SyncError.self) { try SyncModel(coreDataModel: Data(text.utf8)) }
        #expect(error.code == .unreadableModel)
        #expect(error.line == line && (error.column ?? 0) >= 1, "\(error)")
    }

    @Test(
        "Empty files, other encodings and document types are rejected",
        arguments: [
            "", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><model/>",
            "<?xml version='1.0' encoding='UTF-16'?><model/>", "<?xml version='1.0>' encoding='UTF-7'?><model/>",
            "<?xml version='1.0' encoding='UTF-8' encoding='UTF-7'?><model/>", "<?xml\tencoding='EBCDIC-US'?><model/>",
            "\u{FEFF}<?xml version='1.0' encoding='UTF-7'?>+ADw-model/+AD4-",
            "<?xml version='1.0' encoding='\(String(repeating: " ", count: 300))UTF-7'?><model/>",
            "<!DOCTYPE m [<!ENTITY a 'b'>]><model name='&a;'/>",
            "<!DOCTYPE m [<!ENTITY a SYSTEM 'file:///etc/hostname'>]><model>&a;</model>",
        ])
    func rejectsUnsafeXML(text: String) throws {
        let error = try #require(throws: SyncError.self) { try SyncModel(coreDataModel: Data(text.utf8)) }
        #expect(error.code == .unreadableModel)
    }

    @Test(
        "UTF-16 and UTF-32 are rejected, even without a byte order mark",
        arguments: [
            String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian, .utf16, .utf32,
        ])
    func rejectsOtherEncodings(_ encoding: String.Encoding) throws {
        for text in ["<!DOCTYPE m [<!ENTITY a 'b'>]><model name='&a;'/>", "<?xml version='1.0'?><model/>", "<model/>"] {
            let data = try #require(text.data(using: encoding))
            let error = try #require(throws: SyncError.self) { try SyncModel(coreDataModel: data) }
            #expect(error.code == .unreadableModel)
        }
    }

    @Test("Elements nested deeper than 64 levels are rejected")
    func limitsDepth() throws {
        let error = try #require(throws: SyncError.self) { try SyncModel(coreDataModel: Data(deep(65).utf8)) }
        #expect(error.message == "elements are nested more than 64 levels deep")
        #expect(error.line == 1)
        #expect(throws: Never.self) { try SyncModel(coreDataModel: Data(deep(64).utf8)) }
    }

    @Test("Bytes that are not text are rejected")
    func rejectsBinaryData() throws {
        for bytes: [UInt8] in [
            [0x3C, 0x6D, 0xFF, 0x2F, 0x3E], [0xFF, 0xFE, 0x3C, 0x00], Array(repeating: 0, count: 9),
        ] {
            let error = try #require(throws: SyncError.self) { try SyncModel(coreDataModel: Data(bytes)) }
            #expect(error.code == .unreadableModel)
        }
    }

    @Test("A model with random edits is read, or rejected with a SyncError")
    func survivesRandomEdits() {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- é --><model><entity name="A&amp;B" x:y='1'><attribute name="c" optional="YES" attributeType="Date"/>\
            <userInfo><entry key="a" value="b"/></userInfo><![CDATA[x]]>&#65;</entity></model>
            """
        let edits = Array("<>&;\"'=/?! :xé]-[#\n\u{0}\u{1}\u{FFFE}aDOCTYPE".unicodeScalars)
        for seed in RandomTest.edits.seeds {
            var generator = SeededGenerator(state: UInt64(seed))
            var scalars = Array(text.unicodeScalars)
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let place = Int.random(in: scalars.indices, using: &generator)
                let edit = edits[Int.random(in: edits.indices, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: scalars.remove(at: place)
                case 1: scalars.insert(edit, at: place)
                default: scalars[place] = edit
                }
            }
            let edited = String(String.UnicodeScalarView(scalars))
            do {
                _ = try SyncModel(coreDataModel: Data(edited.utf8))
            } catch {
                #expect(error is SyncError, "\(edited)")
            }
        }
    }
}

/// Returns a document with this many nested elements.
private func deep(_ levels: Int) -> String {
    String(repeating: "<model>", count: levels) + String(repeating: "</model>", count: levels)
}

/// A generator that gives the same numbers for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
