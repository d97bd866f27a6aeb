import Foundation
import Testing

@Suite("Rules for keys and values on the command line")
struct KeyRuleTests {
    static let model = #"""
        { "keys": "kebab-case", "ignore": ["*-url", "meta.*"],
          "entities": {
            "Post": { "attributes": {
              "id": "integer", "postTitle": { "type": "string", "transformer": ["htmlEntities", "trimmed"] },
              "day": { "type": "date", "format": "dd.MM.yyyy" } } } } }
        """#
    static let posts = #"""
        [{"id": 1, "post-title": " A &amp; B ", "day": "29.02.2024", "html-url": "x", "meta": {"a": 1}}]
        """#

    private func sandbox(model: String = model) throws -> Sandbox {
        let sandbox = try Sandbox()
        _ = try sandbox.file("model.json", model)
        _ = try sandbox.file("posts.json", Self.posts)
        return sandbox
    }

    private func importPosts(_ sandbox: Sandbox, _ more: String...) throws -> Program.Run {
        try sandbox.run(
            ["import", "posts.json", "--entity", "Post", "--model", "model.json", "--database", "app.sqlite"] + more)
    }

    @Test("Ignored keys are not reported, and an export has the keys of the service")
    func ignoredKeysAreNotReported() throws {
        let sandbox = try sandbox()
        let run = try importPosts(sandbox)
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(!run.output.contains("not in the model"))
        let doctor = try sandbox.syncdb("doctor", "posts.json", "--entity", "Post", "--model", "model.json")
        #expect(doctor.status == 0)
        #expect(doctor.output == "no problems found\n")
        let exported = try sandbox.syncdb("export", "Post", "--database", "app.sqlite", "--ndjson")
        #expect(exported.output == #"{"id":1,"post-title":"A &amp; B","day":"29.02.2024"}"# + "\n")
        #expect(exported.errors == "")
        let snake = try sandbox.syncdb(
            "export", "Post", "--database", "app.sqlite", "--ndjson", "--case", "snake", "--date-format", "yyyy")
        #expect(snake.output == #"{"id":1,"post_title":"A &amp; B","day":"2024"}"# + "\n")
        let shown = try sandbox.syncdb("schema", "show", "--database", "app.sqlite")
        #expect(shown.output.hasPrefix("keys in kebab-case; ignores *-url, meta.*\n\nPost\n"))
        #expect(shown.output.contains("transformed by htmlEntities, then trimmed"))
        #expect(shown.output.contains("format dd.MM.yyyy"))
        let kept = try sandbox.syncdb("schema", "show", "--json", "--database", "app.sqlite")
        let converted = try sandbox.syncdb("schema", "convert", "model.json")
        #expect(kept.output == converted.output)
        #expect(kept.output.contains(#""ignore": ["*-url", "meta.*"]"#))
    }

    @Test("--evolve adds new keys in the case of the model, and no ignored ones")
    func evolveFollowsTheCase() throws {
        let sandbox = try sandbox()
        _ = try importPosts(sandbox)
        _ = try sandbox.file("more.json", #"[{"id": 1, "sub-title": "c", "other-url": "d", "meta": {"b": 2}}]"#)
        let suggested = try sandbox.syncdb("import", "more.json", "--entity", "Post", "--database", "app.sqlite")
        #expect(
            suggested.errors == """
                not in the model: key 'sub-title' of Post, in 1 record
                note: --evolve would add Post.subTitle: string, new

                """)
        let evolved = try sandbox.syncdb(
            "import", "more.json", "--entity", "Post", "--database", "app.sqlite", "--evolve")
        #expect(evolved.errors == "evolved: Post.subTitle: string, new\n")
        let exported = try sandbox.syncdb("export", "Post", "--database", "app.sqlite", "--ndjson")
        #expect(exported.output.contains(#""sub-title":"c""#))
        let changed = Self.model.replacingOccurrences(of: "kebab-case", with: "PascalCase")
        _ = try sandbox.file(
            "model.json", changed.replacingOccurrences(of: #""day""#, with: #""subTitle": "string", "day""#))
        _ = try sandbox.file("pascal.json", #"[{"Id": 1, "PostTitle": "E"}]"#)
        let other = try sandbox.syncdb(
            "import", "pascal.json", "--entity", "Post", "--model", "model.json", "--database", "app.sqlite")
        #expect(other.status == 0, "\(other.errors)")
        let again = try sandbox.syncdb("export", "Post", "--database", "app.sqlite", "--ndjson")
        #expect(again.output == #"{"Id":1,"PostTitle":"E","SubTitle":"c","Day":"29.02.2024"}"# + "\n")
    }

    @Test("Missing transformers and attributes that cannot be exported are reported on standard error")
    func missingTransformersAreReported() throws {
        let sandbox = try sandbox(
            model: #"""
                { "entities": { "Post": { "attributes": {
                    "id": "integer", "title": { "type": "string", "transformer": ["trimmed", "Vault"] },
                    "picture": "transformable", "hidden": { "type": "transformable", "export": false } } } } }
                """#)
        let note =
            "note: values are read and written without transformers that only an app can register: 'Vault' (Post.title)\n"
        _ = try sandbox.file("posts.json", #"[{"id": 1, "title": " a "}]"#)
        let run = try importPosts(sandbox)
        #expect(run.status == 0)
        #expect(run.errors == note)
        #expect(try importPosts(sandbox, "--quiet").errors == "")
        let diff = try sandbox.syncdb("diff", "posts.json", "--entity", "Post", "--database", "app.sqlite")
        #expect(diff.errors == note)
        let exported = try sandbox.syncdb("export", "Post", "--database", "app.sqlite", "--ndjson")
        #expect(exported.output == #"{"id":1,"title":"a"}"# + "\n")
        #expect(
            exported.errors == note
                + "note: Post.picture is not exported: its transformer cannot be reversed\n"
        )
        let doctor = try sandbox.syncdb("doctor", "--database", "app.sqlite")
        #expect(doctor.status == 0)
        #expect(doctor.output.contains("entities.Post.attributes.title.transformer: Post.title names"))
        #expect(doctor.output.contains("entities.Post.attributes.picture: Post.picture is not exported"))
        #expect(!doctor.output.contains("hidden"))
    }

    @Test("verify runs a case whose model names a transformer that it does not need, and reports it")
    func caseWithoutTransformer() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.file(
            "model.json",
            #"{"entities": {"A": {"attributes": {"id": "integer", "x": {"type": "string", "transformer": ["trimmed", "Vault"]}}}}}"#
        )
        _ = try sandbox.file(
            "scenario.json",
            #"""
            {"format": 1, "group": "g", "cases": [
              {"name": "a", "model": "model.json", "steps": [
                {"sync": [{"id": 1, "x": " b "}], "entity": "A"}, {"expect": {"x": "b"}, "entity": "A"}]},
              {"name": "b", "model": "model.json", "needs": ["valueTransformer:Vault: secret"], "steps": [
                {"sync": [{"id": 1}], "entity": "A"}]},
              {"name": "c", "model": "model.json", "needs": ["valueTransformer:trimmed"], "steps": [
                {"sync": [{"id": 1}], "entity": "A"}]},
              {"name": "d", "model": "model.json", "hook": {"add": {"x": "y"}}, "steps": [
                {"sync": [{"id": 1}], "entity": "A"}]} ]}
            """#)
        let run = try sandbox.syncdb("verify", "scenario.json")
        #expect(
            run.errors == "note: 2 cases ran without transformers that only an app can register: 'Vault'\n"
        )
        #expect(run.output.contains("the case has a hook; add 'willInsertHook' to its 'needs'"))
        #expect(run.output.hasSuffix("2 passed, 1 failed, 1 skipped\n"))
        #expect(try sandbox.syncdb("verify", "scenario.json", "--quiet").errors == "")
    }

    @Test(
        "An inferred model has the case of the keys",
        arguments: [("kebab-case", "unit-price"), ("PascalCase", "UnitPrice"), ("camelCase", "unitPrice")])
    func inferredModelHasTheCase(word: String, key: String) throws {
        let sandbox = try Sandbox()
        let id = word == "PascalCase" ? "Id" : "id"
        _ = try sandbox.file("a.json", #"[{"\#(id)": 1, "\#(key)": 2}]"#)
        let inferred = try sandbox.syncdb("schema", "infer", "a.json", "--entity", "Item")
        #expect(inferred.output.contains(#""keys": "\#(word)""#))
        #expect(inferred.errors.contains("keys: written in \(word)\n"))
        let run = try sandbox.syncdb("import", "a.json", "--entity", "Item", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let exported = try sandbox.syncdb("export", "Item", "--database", "app.sqlite", "--ndjson")
        #expect(exported.output == #"{"\#(id)":1,"\#(key)":2}"# + "\n")
    }
}
