import Foundation
import Sync
import Testing

/// The output, the exit codes and the options of service commands.
@Suite("Service commands")
struct ServiceCommandTests {
    private static func list(_ titles: String...) -> JSONValue {
        .array(titles.enumerated().map { ["id": JSONValue($0.offset + 1), "title": .string($0.element)] })
    }

    // MARK: Conflicts

    @Test("'conflicts' prints all members of a conflict, as JSON and as a table")
    func conflictsAreListed() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.list("t", "u"))])
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.run("conflicts", "--json").output == "[]\n")
        #expect(try setting.run("conflicts").output == "no conflicts\n")
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine' WHERE id = 2")
        let answer: JSONValue = ["body": ["id": 2, "title": "mine"]]
        try setting.say([ServiceSetting.tasks(Self.list("t", "theirs")), .init("PATCH /tasks/2", answer)])
        let before = Date(timeIntervalSinceNow: -2)
        let sync = try setting.run("sync")
        #expect(sync.status == 0, "\(sync.errors)")
        let text = try setting.run("conflicts", "--json").output
        guard case .array(let conflicts) = try JSONValue(parsing: text), let conflict = conflicts.first,
            case .object(let members) = conflict
        else {
            Issue.record("no list of objects: \(text)")
            return
        }
        #expect(conflicts.count == 1)
        #expect(
            members.map(\.key) == ["entity", "key", "field", "base", "local", "remote", "resolution", "reason", "date"])
        let values = ["entity", "key", "field", "base", "local", "remote", "resolution", "reason"].map { conflict[$0] }
        #expect(values == ["Task", 2, "title", "u", "mine", "theirs", "local", "clientWins"], "\(text)")
        guard case .string(let time)? = conflict["date"] else {
            Issue.record("no time: \(text)")
            return
        }
        let date = try Date(time, strategy: .iso8601)
        #expect(before <= date && date <= Date())
        let table = try setting.run("conflicts").output
        for word in ["Task", "title", "\"u\"", "\"mine\"", "\"theirs\"", "local", "clientWins", time] {
            #expect(table.contains(word), "\(word): \(table)")
        }
    }

    @Test("'resolve --domain' resolves one field of a row, and other fields stay in conflict")
    func oneFieldIsResolved() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks([["id": 1, "title": "t", "points": 1]])], #", "policy": "manual""#)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine', points = 2")
        let theirs = ServiceSetting.tasks([["id": 1, "title": "theirs", "points": 3]])
        try setting.say([theirs])
        #expect(try setting.run("pull").status == 4)
        func waiting() throws -> [JSONValue?] {
            let status = try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]?["Task"]
            return [status?["conflicts"], status?["conflictingValues"]]
        }
        let key = ["--entity", "Task", "--key", "1", "--take"]
        func resolve(_ words: String...) throws -> Program.Run {
            try setting.sandbox.run(try setting.arguments(["resolve"] + key + words))
        }
        #expect(try waiting() == [1, 2])
        #expect(try resolve("remote", "--field", "title").output == "Task 1: kept the remote value\n")
        #expect(try waiting() == [1, 1])
        func listed(_ words: String...) throws -> [JSONValue?] {
            let run = try setting.sandbox.run(try setting.arguments(["conflicts", "--json"] + words))
            guard case .array(let conflicts) = try JSONValue(parsing: run.output) else { return [] }
            return conflicts.map { $0["field"] }
        }
        #expect(try listed() == ["points", "title"])
        #expect(try listed("--open") == ["points"])
        #expect(try setting.sandbox.query("SELECT title, points FROM Task") == "theirs|2\n")
        #expect(try resolve("local", "--domain", "points").output == "Task 1: kept the local value\n")
        #expect(try waiting() == [0, 0])
        #expect(try setting.run("conflicts", "--open").output == "no open conflicts\n")
        let answer: JSONValue = ["body": ["id": 1, "title": "theirs", "points": 2]]
        try setting.say([theirs, .init("PATCH /tasks/1", answer)])
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.server.log.filter { $0.hasPrefix("PATCH") } == [#"PATCH /tasks/1 {"points":2}"#])
    }

    @Test("'resolve' without --field names the fields if a row has several open conflicts")
    func resolvedFieldsAreNamed() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks([["id": 1, "title": "t", "points": 1]])], #", "policy": "manual""#)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine', points = 2")
        try setting.say([ServiceSetting.tasks([["id": 1, "title": "theirs", "points": 3]])])
        #expect(try setting.run("pull").status == 4)
        let run = try setting.run("resolve", "--entity", "Task", "--key", "1", "--take", "local")
        #expect(
            [
                "Task 1: kept the local values of title, points\n", "Task 1: kept the local values of points, title\n",
            ].contains(run.output), "\(run.output)\(run.errors)")
    }

    @Test("'status' prints the last sync of each entity, and whether its first pull was complete")
    func lastSyncIsPrinted() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.list("t"))])
        func entities() throws -> JSONValue? {
            try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]
        }
        try setting.importNothing()
        let before = try entities()
        for name in ["Task", "Tag"] {
            #expect(before?[name]?["lastSync"] == .null && before?[name]?["initialSyncComplete"] == false)
        }
        #expect(try setting.run("status").output == "this database has not been synced with a service yet\n")
        let start = Date(timeIntervalSinceNow: -2)
        #expect(try setting.run("pull", "--only", "Task").status == 0)
        let after = try entities()
        #expect(after?["Task"]?["initialSyncComplete"] == true && after?["Tag"]?["initialSyncComplete"] == false)
        #expect(after?["Tag"]?["lastSync"] == .null)
        guard case .string(let time)? = after?["Task"]?["lastSync"] else {
            Issue.record("no time: \(after.debugDescription)")
            return
        }
        let date = try Date(time, strategy: .iso8601)
        #expect(start <= date && date <= Date())
        let table = try setting.run("status").output
        #expect(table.contains(time) && table.components(separatedBy: "never").count == 2, "\(table)")
        #expect(try setting.server.log == ["GET /tasks"])
    }

    @Test("'status', 'conflicts' and 'resolve' write nothing to a database that no service command has synced")
    func unsyncedDatabaseStays() throws {
        let setting = try ServiceSetting([])
        let message = "this database has not been synced with a service yet"
        let resolve = ["--entity", "Task", "--key", "1", "--take", "local"]
        for words in [["status"], ["conflicts"], ["resolve"] + resolve] {
            let run = try setting.sandbox.run(setting.arguments(words))
            #expect(run.status == 2)
            #expect(run.errors.contains("the database 'app.sqlite' does not exist"), "\(run.errors)")
            #expect(try !setting.sandbox.files.contains("app.sqlite"))
        }
        try setting.importNothing()
        let before = try setting.sandbox.databaseDump()
        for command in ["status", "conflicts"] {
            let run = try setting.run(command)
            #expect(run.status == 0 && run.output == message + "\n", "\(run.output)\(run.errors)")
            let unknown = try setting.run(command, "--only", "Nobody")
            #expect(unknown.status == 1 && unknown.errors.contains("unknown entity 'Nobody'"), "\(unknown.errors)")
        }
        #expect(try setting.run("conflicts", "--json").output == "[]\n")
        let status = try JSONValue(parsing: try setting.run("status", "--only", "Task", "--json").output)
        #expect(status["blockedChanges"] == [])
        #expect(status["entities"]?["Tag"] == nil)
        #expect(status["entities"]?["Task"]?["pending"] == 0)
        let resolved = try setting.sandbox.run(setting.arguments(["resolve"] + resolve))
        #expect(resolved.status == 1 && resolved.errors.contains(message), "\(resolved.errors)")
        #expect(try setting.sandbox.databaseDump() == before)
        // The stub creates its log with the first request.
        #expect(try !setting.sandbox.files.contains("answers.json.log"))
    }

    // MARK: Exit codes

    private static let paged = #", "rest": {"records": "data", "paging": {"style": "next", "next": "next"}}"#

    @Test("A list whose pages form a circle exits with 1, and its rows stay")
    func circularPages() throws {
        let setting = try ServiceSetting(
            [
                .init("GET /tags", ["body": ["data": []]]),
                .init("GET /tasks", ["body": ["data": [["id": 1, "title": "t"]], "next": "/tasks?page=2"]]),
                .init("GET /tasks?page=2", ["body": ["data": [["id": 2, "title": "u"]], "next": "/tasks?page=3"]]),
                .init("GET /tasks?page=3", ["body": ["data": [["id": 3, "title": "v"]], "next": "/tasks?page=2"]]),
            ], Self.paged)
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.contains("its pages of Task form a loop"), "\(run.errors)")
        #expect(try setting.server.log.count < 10)
        #expect(try setting.sandbox.query("SELECT count(*) FROM Task") != "0\n")
    }

    @Test("Service commands exit with 0, 1, 2, 3 or 4 as their help says", arguments: ["sync", "pull"])
    func exitCodes(_ command: String) throws {
        let many = JSONValue.array((1...20).map { ["id": JSONValue($0), "title": "t"] })
        let setting = try ServiceSetting([ServiceSetting.tasks(many)], #", "policy": "manual""#)
        #expect(try setting.run(command).status == 0)
        #expect(try setting.run(command).status == 0)
        try setting.say([.init("GET /tasks", ["status": 500, "body": ["message": "broken"]])])
        let failed = try setting.run(command, "--wait", "0")
        #expect(failed.status == 1)
        #expect(failed.output == "")
        #expect(failed.errors.hasPrefix("error: the service failed: status 500: broken"), "\(failed.errors)")
        #expect(try setting.run("reset", "cursors").status == 0)
        #expect(try setting.run(command, "--nothing").status == 2)
        #expect(try setting.run(command, "--json", "--quiet").status == 2)
        try setting.say([ServiceSetting.tasks([["id": 1, "title": "t"]])])
        #expect(try setting.run(command, "--quiet").status == 3)
        #expect(try setting.sandbox.query("SELECT count(*) FROM Task") == "20\n")
        try setting.say([ServiceSetting.tasks(many)])
        #expect(try setting.run(command).status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine' WHERE id = 1")
        guard case .array(let rows) = many else { return }
        try setting.say([ServiceSetting.tasks(.array([["id": 1, "title": "theirs"]] + rows.dropFirst()))])
        let waits = try setting.run(command, "--quiet")
        #expect(waits.status == 4)
        #expect(waits.output == "" && waits.errors == "")
        let json = try JSONValue(parsing: try setting.run("conflicts", "--json").output)
        if case .array(let conflicts) = json { #expect(conflicts.first?["resolution"] == "open") }
        #expect(try setting.run("resolve", "--entity", "Task", "--key", "1", "--take", "remote").status == 0)
        #expect(try setting.run(command).status == 0)
    }

    @Test(
        "Commands ignore the backoff after failures, and with --now also the delay that a service asked for",
        arguments: ["sync", "pull"])
    func nowIgnoresRetryAfter(_ command: String) throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.list("t"))])
        #expect(try setting.run("sync").status == 0)
        let later = Int((Date().timeIntervalSince1970 + 3000) * 1000)
        func leave(_ attempts: Int) throws {
            _ = try setting.sandbox.query("UPDATE sync_engine SET not_before = \(later), attempts = \(attempts)")
        }
        // Five failures in a row.
        try leave(5)
        #expect(try setting.run(command, "--wait", "0").status == 0)
        // The service asked for the delay.
        try leave(0)
        let count = try setting.server.log.count
        let kept = try setting.run(command, "--wait", "0")
        #expect(kept.status == 1)
        #expect(kept.errors.contains("the engine must wait until") && kept.errors.contains("--now"), "\(kept.errors)")
        #expect(try setting.server.log.count == count)
        let asked = try setting.run(command, "--wait", "0", "--now")
        #expect(asked.status == 0, "\(asked.errors)")
        #expect(try setting.server.log.count > count)
        #expect(try setting.sandbox.query("SELECT not_before IS NULL FROM sync_engine") == "1\n")
    }

    @Test("--key takes a negative key", arguments: [["--key", "-5"], ["--key=-5"]])
    func negativeKeyIsAKey(_ words: [String]) throws {
        let setting = try ServiceSetting([ServiceSetting.tasks([["id": -5, "title": "t"]])], #", "policy": "manual""#)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        try setting.say([ServiceSetting.tasks([["id": -5, "title": "theirs"]])])
        #expect(try setting.run("sync").status == 4)
        let run = try setting.sandbox.run(
            setting.arguments(["resolve", "--entity", "Task"] + words + ["--take", "remote"]))
        #expect(run.status == 0, "\(run.errors)")
        #expect(try setting.sandbox.query("SELECT title FROM Task") == "theirs\n")
    }

    @Test(
        "An unreachable service exits with 1 and an error, and no change is blocked",
        arguments: ["sync", "pull", "push"])
    func unreachableService(_ command: String) throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.list("t"))])
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        // The discard port, on which no server listens.
        try setting.configure(#", "identity": "\#(setting.server.url)""#, url: "http://127.0.0.1:9")
        let run = try setting.run(command, "--wait", "0")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: the service refuses the connection: "), "\(run.errors)")
        let status = try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]?["Task"]
        #expect(status?["pending"] == 1 && status?["blocked"] == 0)
    }

    @Test("--only limits pulls and pushes to its entities")
    func onlyLimitsEntities() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.list("t"))])
        for command in ["pull", "sync"] {
            #expect(try setting.run(command, "--only", "Tag").status == 0)
            #expect(try setting.server.log.allSatisfy { $0.hasPrefix("GET /tags") })
        }
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query(
            "UPDATE Task SET title = 'mine'; INSERT INTO Tag (id, name) VALUES (-1, 'new')")
        try setting.say([
            ServiceSetting.tasks(Self.list("t")),
            .init("POST /tags", ["status": 201, "body": ["id": 7, "name": "new"]]),
        ])
        #expect(
            try setting.run("push", "--only", "Tag").output
                == "Tag: pushed: 1 inserted\nTask: 1 pending change; 'syncdb push' sends it\n")
        #expect(try setting.server.log.contains { $0.hasPrefix("POST /tags") })
        #expect(try !setting.server.log.contains { $0.hasPrefix("PATCH") })
        #expect(try setting.run("sync", "--only", "Nobody").status == 1)
    }

    // MARK: Progress

    @Test(
        "A command on a terminal shows delays and progress, and clears the line",
        .enabled(if: Typescript.isThere))
    func progressIsShown() throws {
        let answers: JSONValue = [
            ["status": 503, "headers": ["Retry-After": "1"]], ["body": Self.list("t", "u", "v")],
        ]
        let setting = try ServiceSetting([.init("GET /tasks", answers)])
        let seen = try Typescript.run(try setting.arguments(["pull"]), in: setting.sandbox.folder)
        #expect(seen.status == 0)
        let parts = seen.output.components(separatedBy: "\r\u{1B}[K")
        let places = [
            parts.firstIndex { $0 == "waiting 1 s: the service asks to wait: status 503" },
            // After a delay the line is shown at once.
            parts.firstIndex { $0.hasPrefix("pull Task     3 rows") },
            parts.firstIndex { $0.contains("Task: pulled: 3 inserted") },
        ].compactMap(\.self)
        #expect(places.count == 3 && places == places.sorted(), "\(parts)")
        // The final output has its own line.
        #expect(parts.last?.hasPrefix("Task: pulled: 3 inserted") == true, "\(parts)")
    }

    @Test("A command with --quiet shows nothing on a terminal", .enabled(if: Typescript.isThere))
    func quietShowsNothing() throws {
        let answers: JSONValue = [["status": 503, "headers": ["Retry-After": "1"]], ["body": Self.list("t")]]
        let setting = try ServiceSetting([.init("GET /tasks", answers)])
        let seen = try Typescript.run(try setting.arguments(["pull", "--quiet"]), in: setting.sandbox.folder)
        #expect(seen.status == 0)
        #expect(seen.output == "")
    }

    // MARK: Ctrl-C

    private func interrupt(
        _ setting: ServiceSetting, with signal: Int32, after line: String
    ) throws -> (status: Int32, errors: String) {
        let process = Process()
        process.executableURL = try Program.syncdb()
        process.arguments = try setting.arguments(["sync"])
        process.currentDirectoryURL = setting.sandbox.folder
        let errors = setting.sandbox.folder.appendingPathComponent("errors")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try !setting.server.log.contains(where: { $0.hasPrefix(line) }) { usleep(2_000) }
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        try #require(process.terminationReason == .exit)
        return (process.terminationStatus, try String(contentsOf: errors, encoding: .utf8))
    }

    @Test(
        "Ctrl-C ends a command whose service does not answer, and the next command continues",
        arguments: ["GET /tags", "POST /tasks"], [(SIGINT, Int32(130)), (SIGTERM, Int32(143))])
    func interruptedCommandContinues(_ request: String, _ signal: (number: Int32, status: Int32)) throws {
        let tasks = ServiceSetting.tasks(Self.list("t"))
        let setting = try ServiceSetting([tasks], #", "rest": {"idempotency": "Idempotency-Key"}"#)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("INSERT INTO Task (id, title) VALUES (-1, 'mine')")
        let more = ServiceSetting.tasks(Self.list("t", "more"))
        try setting.say([more, .init(request, ["stalls": true])])
        // Removes the earlier requests from the log.
        try Data().write(to: setting.sandbox.folder.appendingPathComponent("answers.json.log"))
        let end = try interrupt(setting, with: signal.number, after: request)
        #expect(end.status == signal.status)
        #expect(end.errors == "error: interrupted; completed work is kept, and the next sync continues\n")
        #expect(try setting.sandbox.query("SELECT title FROM Task WHERE id > 0 ORDER BY id") == "t\nmore\n")
        #expect(try setting.sandbox.query("SELECT holder, until FROM sync_lease") == "|0\n")
        // An in-doubt request is sent again first.
        let isMade = request.hasPrefix("POST")
        let there: JSONValue = [["id": 1, "title": "t"], ["id": 2, "title": "more"], ["id": 9, "title": "mine"]]
        let list = isMade ? ServiceSetting.tasks(there) : more
        try setting.say([list, .init("POST /tasks", ["status": 201, "body": ["id": 9, "title": "mine"]])])
        let next = try setting.run("sync")
        #expect(next.status == 0, "\(next.errors)")
        #expect(try setting.sandbox.query("SELECT id, title FROM Task ORDER BY id") == "1|t\n2|more\n9|mine\n")
        #expect(try setting.sandbox.query("SELECT count(*) FROM sync_outbox") == "0\n")
        #expect(try setting.sandbox.query("SELECT count(*) FROM sync_request") == "0\n")
    }

    // MARK: Help

    @Test(
        "The help of service commands explains each option",
        arguments: [
            (
                ["sync", "pull", "push"],
                ["-c, --config", "--model", "--only", "--wait", "--now", "--max-delete", "--json", "--quiet"]
            ),
            (["status"], ["-c, --config", "--model", "--only", "--json", "--color"]),
            (["conflicts"], ["-c, --config", "--model", "--only", "--open", "--json", "--color"]),
            (["reset"], ["-c, --config", "--model", "--only", "--json", "--quiet", "<kind>"]),
            (["resolve"], ["-c, --config", "--model", "--entity", "--key", "--take", "--field", "--json"]),
        ])
    func optionsAreExplained(_ commands: [String], _ options: [String]) throws {
        let sandbox = try Sandbox()
        for command in commands {
            let run = try sandbox.run([command, "--help"])
            #expect(run.status == 0)
            let lines = run.output.split(separator: "\n")
            for option in options + ["-d, --database", "--busy-timeout"] {
                #expect(lines.contains { $0.hasPrefix("  \(option) ") }, "\(option) is not in the help of \(command)")
            }
            #expect(run.output.contains("Example: syncdb \(command) "), "\(command)")
        }
    }

    @Test("The help names the kinds of reset, the sides of a conflict and the exit codes")
    func choicesAreExplained() throws {
        let sandbox = try Sandbox()
        let reset = try sandbox.syncdb("reset", "--help").output
        for kind in ["cursors", "local", "remote"] { #expect(reset.contains("\(kind): "), "\(kind)") }
        let resolve = try sandbox.syncdb("resolve", "--help").output
        #expect(resolve.contains("local or remote"))
        let help = try sandbox.syncdb("--help").output
        for command in ["sync", "pull", "push", "status", "conflicts", "resolve", "reset"] {
            #expect(help.contains("\n  \(command) "), "\(command)")
        }
        #expect(
            help.contains("Exit codes:\n  0    done\n  1    failed\n  2    wrong usage\n  3    deletion limit exceeded")
        )
    }
}
