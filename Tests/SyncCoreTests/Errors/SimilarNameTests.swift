import SyncCore
import Testing

@Suite("A name that is like the one written")
struct SimilarNameTests {
    @Test(
        "is found where few letters differ, or only case and separators",
        arguments: [
            ("qurey", "query"), ("Usr", "User"), ("users", "User"), ("first_name", "firstName"),
            ("FIRSTNAME", "firstName"),
            ("markdwn", "markdown"), ("comapny", "company"), ("ix", "id"),
        ])
    func near(written: String, meant: String) {
        let names = ["id", "firstName", "company", "User", "query", "import", "markdown"]
        #expect(SimilarName.nearest(to: written, among: names) == meant)
        #expect(SimilarName.hint(for: written, among: names) == "; did you mean '\(meant)'?")
    }

    @Test("is none where most letters differ", arguments: ["", "x", "xy", "wings", "Robot", "zzzzzzzzzzzz"])
    func far(written: String) {
        #expect(SimilarName.nearest(to: written, among: ["id", "firstName", "company", "User"]) == nil)
        #expect(SimilarName.hint(for: written, among: ["id", "firstName", "company", "User"]) == "")
    }

    @Test("The nearest of several is meant, the first of those equally near")
    func several() {
        #expect(SimilarName.nearest(to: "note", among: ["notes", "vote", "noted"]) == "notes")
        #expect(SimilarName.nearest(to: "titel", among: ["tile", "title"]) == "title")
    }

    @Test("Very long names are not compared")
    func long() {
        let name = String(repeating: "a", count: 100_000)
        #expect(SimilarName.nearest(to: name, among: [name + "b"]) == nil)
    }
}
