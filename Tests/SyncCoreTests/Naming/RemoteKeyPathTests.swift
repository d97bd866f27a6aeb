import Testing

@testable import SyncCore

@Suite("A remote key as a path of keys")
struct RemoteKeyPathTests {
    @Test(
        "is cut at its dots, but for those after a backslash",
        arguments: [
            ("a", ["a"]), ("a.b", ["a", "b"]), (#"a\.b"#, ["a.b"]), (#"a.b\.c.d"#, ["a", "b.c", "d"]),
            (#"@odata\.etag"#, ["@odata.etag"]), (#"a\\.b"#, [#"a\"#, "b"]), (#"a\\\.b"#, [#"a\.b"#]),
            (#"a\b"#, [#"a\b"#]), (#"a\"#, [#"a\"#]), ("", [""]), (".", ["", ""]), (#"\."#, ["."]),
            ("é.ü", ["é", "ü"]),
        ])
    func keys(text: String, keys: [String]) { #expect(RemoteKeyPath.keys(text) == keys) }

    @Test(
        "is written so that it is read as the same keys",
        arguments: [
            ["a"], ["a.b"], ["a", "b"], [#"a\"#, "b"], [#"a\"#], [#"a\.b"#], [#"a\\"#, #"\"#], [#"\\."#, "."],
            ["", ""],
            ["a..b", "c"],
        ])
    func text(keys: [String]) { #expect(RemoteKeyPath.keys(RemoteKeyPath.text(keys)) == keys) }

    @Test("names one key as it is where that has no dot", arguments: ["a", "a_b", "@type", #"a\b"#, "é"])
    func plain(key: String) { #expect(RemoteKeyPath.escaped(key) == key) }
}
