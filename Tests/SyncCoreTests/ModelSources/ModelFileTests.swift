import Foundation
import SyncCore
import Testing

@Suite("Model files")
final class ModelFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("models-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, to path: String) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func names(in path: String) throws -> [String] {
        try SyncModel(contentsOf: folder.appendingPathComponent(path)).entities.map(\.name)
    }

    private func refusal(_ path: String) throws -> SyncError {
        try #require(throws: SyncError.self) { try SyncModel(contentsOf: folder.appendingPathComponent(path)) }
    }

    private func xml(_ name: String) -> String { "<?xml version=\"1.0\"?>\n<model><entity name=\"\(name)\"/></model>" }

    private func currentVersion(_ name: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>
        """
    }

    @Test("Schema files, Core Data models and their contents are recognized")
    func recognizesFormats() throws {
        try write(#"{ "entities": { "A": {} } }"#, to: "a.json")
        try write("\u{FEFF} \n{ \"entities\": { \"B\": {} } }", to: "b.schema")
        try write(xml("C"), to: "C.xcdatamodel/contents")
        #expect(try names(in: "a.json") == ["A"])
        #expect(try names(in: "b.schema") == ["B"])
        #expect(try names(in: "C.xcdatamodel") == ["C"])
        #expect(try names(in: "C.xcdatamodel/") == ["C"])
        #expect(try names(in: "C.xcdatamodel/contents") == ["C"])
    }

    @Test("The current version of a versioned model is read")
    func readsCurrentVersion() throws {
        for number in [1, 2, 10] { try write(xml("V\(number)"), to: "M.xcdatamodeld/M \(number).xcdatamodel/contents") }
        #expect(try names(in: "M.xcdatamodeld") == ["V10"])
        try write(currentVersion("M 2.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion")
        #expect(try names(in: "M.xcdatamodeld") == ["V2"])
    }

    @Test("A versioned model without a readable current version is rejected")
    func rejectsMissingVersion() throws {
        try write(xml("A"), to: "M.xcdatamodeld/M.xcdatamodel/contents")
        try write(currentVersion("../other/N.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion")
        #expect(try refusal("M.xcdatamodeld").code == .unreadableModel)
        try write("not a plist", to: "M.xcdatamodeld/.xccurrentversion")
        #expect(try refusal("M.xcdatamodeld").code == .unreadableModel)
        try write("", to: "Empty.xcdatamodeld/readme.txt")
        #expect(try refusal("Empty.xcdatamodeld").message.contains("contains no .xcdatamodel"))
    }

    @Test("Files that cannot be read as models are rejected")
    func rejectsUnreadableFiles() throws {
        let missing = try refusal("missing.json")
        #expect(missing.code == .unreadableFile)
        #expect(missing.message.contains("missing.json"))
        try write("", to: "Bare.xcdatamodel/other")
        #expect(try refusal("Bare.xcdatamodel").code == .unreadableFile)
        try write("", to: "folder/file")
        #expect(try refusal("folder").code == .unreadableModel)
        try write("", to: "Built.momd/Built.mom")
        #expect(try refusal("Built.momd").message.contains("compiled"))
        for text in ["", "bplist00", "[1]"] {
            try write(text, to: "odd")
            #expect(try refusal("odd").code == .unreadableModel)
        }
    }

    @Test("Mistakes in model files are reported with their location")
    func reportsMistakes() throws {
        try write("{ \"entities\": }", to: "bad.json")
        let malformed = try refusal("bad.json")
        #expect(malformed.code == .unreadableModel)
        #expect(malformed.line == 1 && malformed.column == 15)
        try write("<model><entity/></model>", to: "Bad.xcdatamodel/contents")
        let invalid = try refusal("Bad.xcdatamodel")
        #expect(invalid.code == .invalidModel)
        #expect(invalid.message == "the model has 1 problem")
        #expect(invalid.problems.count == 1)
    }
}
