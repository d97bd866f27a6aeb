import SyncCore
import Testing

@Suite("Former names")
struct FormerNamesTests {
    /// Creates attributes from text: `b<a` is `b`, renamed from `a`.
    private func attributes(_ text: String) -> [SyncModel.Attribute] {
        text.split(separator: " ").map { word in
            let parts = word.split(separator: "<").map(String.init)
            return SyncModel.Attribute(parts[0], .string, renamedFrom: parts.count > 1 ? parts[1] : nil)
        }
    }

    @Test(
        "Each member has one old name",
        arguments: [
            ("a b", "b a c", "b<b a<a"),
            ("a", "b<a", "b<a"),
            ("a", "b<c", ""),
            ("a b", "a<b b<a", "a<b b<a"),
            ("a b c", "a<b b<c c<a", "a<b b<c c<a"),
            ("a b", "b<a c<b", "b<a c<b"),
            // A new member has the former name of another.
            ("a", "a b<a", "b<a"),
            // The rename is done already.
            ("a b<a", "a b<a", "a<a b<b"),
            ("a<b b<a", "a<b b<a c", "a<a b<b"),
            ("b<a c<b", "a b<a c<b", "b<b c<c"),
            // `b` was renamed from `a` before, and exchanges its name with the new `a` now.
            ("a b<a", "a<b b<a", "a<b b<a"),
            ("a", "a<a", "a<a"),
        ])
    func formerNames(old: String, new: String, names: String) {
        let new = attributes(new)
        let former = FormerNames(of: new, in: attributes(old))
        let found = new.compactMap { member in former[member.name].map { "\(member.name)<\($0)" } }
        #expect(found.joined(separator: " ") == names)
    }
}
