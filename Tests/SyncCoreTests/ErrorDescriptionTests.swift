import Foundation
import SyncCore
import Testing

@Suite("Error descriptions")
struct ErrorDescriptionTests {
    @Test("The localizedDescription of a SyncError equals its description")
    func localizedDescriptionEqualsDescription() {
        let error = SyncError(
            .malformedJSON, "a value is expected", entity: "User", path: "[0].age", line: 1, column: 7,
            problems: [.init(.invalidModel, path: "a", message: "wrong")], underlying: "the layer below")
        let erased: any Error = error
        #expect(erased.localizedDescription == error.description)
        #expect(
            erased.localizedDescription
                == "a value is expected (entity User, at [0].age, line 1, column 7): the layer below\n  a: wrong")
        #expect((erased as NSError).localizedDescription == error.description)
    }

    @Test("Every error type in Sources is a LocalizedError")
    func everyErrorIsLocalized() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        let declaration = try Regex(#"(struct|enum|class|actor|extension) [\w.]+\s*:[^{]*\bError\b"#)
        var found: [String] = []
        var errors = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            errors += text.components(separatedBy: "LocalizedError").count - 1
            found += text.matches(of: declaration).map { "\(file.lastPathComponent): \(text[$0.range])" }
        }
        #expect(found.isEmpty, "make it a LocalizedError")
        #expect(errors > 5)
    }

    @Test("TruncatedList shows the first elements and the number of the others")
    func truncatedListCountsTheRest() {
        #expect(TruncatedList(["a", "b"]).text == "a, b")
        #expect(TruncatedList(["a", "b", "c"], upTo: 1).text == "a and 2 more")
        #expect(TruncatedList(["a", "b", "c"], upTo: nil).text == "a, b, c")
        #expect(TruncatedList(["a"], of: 7).text == "a and 6 more")
        #expect(TruncatedList((1...1000).lazy.map(String.init)).text.hasSuffix("20 and 980 more"))
    }
}
