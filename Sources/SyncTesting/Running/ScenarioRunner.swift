public import Foundation
public import SyncCore

/// Runs scenario files: cases that say in JSON what a sync, a fetch or a name rule is expected to do.
///
/// ```swift
/// let report = await ScenarioRunner().run(paths: [URL(fileURLWithPath: "Fixtures/Scenarios")])
/// print(report.summary)  // 20 passed, 0 failed, 0 skipped
/// ```
///
/// Each case with steps has a store of its own, in memory unless it needs a file. After the last step the store must
/// pass `PRAGMA foreign_key_check` and `integrity_check`.
public struct ScenarioRunner: Sendable {
    /// What a runner does beyond what the files say.
    public struct Options: Sendable, Hashable {
        /// Whether each `sync` step that passed is made a second time and must then write nothing.
        public var repeatsSyncs: Bool
        /// Whether the store is compared with a ``ReferenceStore`` after each `sync` step, up to the first step that
        /// writes otherwise or that the reference does not know.
        public var checksReference: Bool

        /// The size in bytes of the pieces in which each payload is read; nil to read it whole.
        public var pieceSize: Int?
        /// Whether the store is a guest in the database of an app, and each sync but for pages a part of a transaction of
        /// the app's.
        public var isGuest: Bool
        /// Whether the tables of the store are those of an app, under other names, where the model allows that.
        public var isAdopted: Bool
        /// Whether results name the transformers that a case ran without, because only its model names them.
        public var namesMissingTransformers: Bool

        /// Options of a run; each is off by default.
        public init(
            repeatsSyncs: Bool = false, checksReference: Bool = false, pieceSize: Int? = nil,
            isGuest: Bool = false, namesMissingTransformers: Bool = false,
            isAdopted: Bool = false
        ) {
            self.isAdopted = isAdopted
            self.isGuest = isGuest
            self.namesMissingTransformers = namesMissingTransformers
            self.pieceSize = pieceSize
            self.repeatsSyncs = repeatsSyncs
            self.checksReference = checksReference
        }
    }

    private let facilities: ScenarioFeatures
    private let options: Options

    /// A runner that meets these needs of cases and skips cases with others.
    public init(facilities: ScenarioFeatures = .standard, options: Options = Options()) {
        self.facilities = facilities
        self.options = options
    }

    /// Runs the cases of files and folders.
    ///
    /// - Parameters:
    ///   - paths: Scenario files, or folders with nothing but scenario files at any depth. Of a folder that has a
    ///     folder `cases`, only that one is read.
    ///   - only: The name of the cases to run; nil for all.
    /// - Returns: A report in which a missing path, a file that is no scenario file, and a run without any case are
    ///   failures.
    public func run(paths: [URL], only: String? = nil) async -> ScenarioReport {
        var report = ScenarioReport()
        for path in paths {
            do {
                for file in try ScenarioFiles.files(at: path) {
                    report.results += await run(file: file, only: only)
                }
            } catch {
                report.results.append(.failed(file: path.path, name: "(path)", error.message))
            }
        }
        if report.results.isEmpty {
            let place = paths.map(\.path).joined(separator: ", ")
            let wanted = only.map { "a case named '\($0)'" } ?? "a case"
            report.results.append(.failed(file: place, name: "(path)", "\(wanted) was not found"))
        }
        return report
    }

    private func run(file url: URL, only: String?) async -> [ScenarioReport.CaseResult] {
        let file: ScenarioFile
        do {
            file = try ScenarioFile(contentsOf: url)
        } catch {
            return [.failed(file: url.path, name: "(file)", error.message)]
        }
        var results: [ScenarioReport.CaseResult] = []
        for entry in file.entries where only == nil || entry.name == only {
            results.append(await run(entry, of: file))
        }
        return results
    }

    private func run(_ entry: ScenarioFile.Entry, of file: ScenarioFile) async -> ScenarioReport.CaseResult {
        let scenario: Scenario
        switch entry.scenario {
        case .success(let decoded): scenario = decoded
        case .failure(let error):
            return .failed(file: file.url.path, name: entry.name, error.message, step: error.step)
        }
        let missing = facilities.missing(of: scenario.needs)
        guard missing.isEmpty else {
            return ScenarioReport.CaseResult(
                file: file.url.path, name: entry.name, outcome: .skipped,
                reason: "needs \(missing.joined(separator: ", "))")
        }
        let execution = ScenarioExecution(scenario, file: file, facilities: facilities, options: options)
        var failures = await execution.run()
        if failures.isEmpty, scenario.needs.contains(ScenarioFeatures.concurrency) {
            failures = await ParallelEvaluation(of: file, facilities: facilities).run()
        }
        var result = ScenarioReport.CaseResult(
            file: file.url.path, name: entry.name, outcome: failures.isEmpty ? .passed : .failed, failures: failures)
        if options.namesMissingTransformers { result.missingTransformers = execution.missingTransformers }
        return result
    }
}

extension ScenarioReport.CaseResult {
    /// A case or file that was not run because it is not what it should be.
    fileprivate static func failed(
        file: String, name: String, _ message: String, step: Int? = nil
    ) -> ScenarioReport.CaseResult {
        let failure = ScenarioReport.Failure(step: step, expected: "", found: "", message: message)
        return ScenarioReport.CaseResult(file: file, name: name, outcome: .failed, failures: [failure])
    }
}

/// Evaluates the cases of a file many times at once, to find state shared between calls that should share none.
struct ParallelEvaluation: Sendable {
    /// How often each function is called; cases with steps are run so often together, each with a store to open.
    static let rounds = 6000
    private static let width = 16

    private let executions: [ScenarioExecution]

    init(of file: ScenarioFile, facilities: ScenarioFeatures) {
        let scenarios = file.entries.compactMap { try? $0.scenario.get() }
            .filter { facilities.missing(of: $0.needs).isEmpty }
        let functions = scenarios.filter { $0.function != nil }
        let stepped = scenarios.filter { $0.function == nil }
        let perCase = stepped.isEmpty ? 0 : max(1, Self.rounds / stepped.count)
        let all = Self.repeated(functions, Self.rounds) + Self.repeated(stepped, perCase)
        let models = Self.models(of: scenarios, in: file)
        executions = all.map { ScenarioExecution($0, file: file, facilities: facilities, models: models) }
    }

    private static func repeated(_ scenarios: [Scenario], _ count: Int) -> [Scenario] {
        (0..<count).flatMap { _ in scenarios }
    }

    /// Every model once, so that the time goes into the cases. One that cannot be read is left to its cases.
    private static func models(of scenarios: [Scenario], in file: ScenarioFile) -> [String: SyncModel] {
        var models: [String: SyncModel] = [:]
        for path in Set(scenarios.compactMap(\.model)) {
            models[path] = try? SyncModel(contentsOf: file.url(of: path))
        }
        return models
    }

    /// The first failure of any evaluation.
    func run() async -> [ScenarioReport.Failure] {
        await withTaskGroup(of: [ScenarioReport.Failure].self) { group in
            for lane in 0..<Self.width {
                group.addTask { await run(lane) }
            }
            for await failures in group where !failures.isEmpty {
                group.cancelAll()
                return failures
            }
            return []
        }
    }

    private func run(_ lane: Int) async -> [ScenarioReport.Failure] {
        for index in stride(from: lane, to: executions.count, by: Self.width) {
            if Task.isCancelled { return [] }
            let failures = await executions[index].run()
            if !failures.isEmpty { return failures }
        }
        return []
    }
}

/// What a ``ScenarioRunner`` provides of the things cases can ask for in `needs`.
///
/// A case that needs anything else is skipped and counted.
public struct ScenarioFeatures: Sendable {
    /// The names of the needs that are met: `onDisk`, `valueTransformer:NAME`.
    public private(set) var names: Set<String>
    /// The transformers that are registered on every model.
    let transformers: [AttributeTransformer]

    /// Facilities that meet exactly these needs, and those for these transformers.
    public init(names: Set<String>, transformers: [AttributeTransformer] = []) {
        self.names = names.union(transformers.map { "valueTransformer:\($0.name)" })
        self.transformers = transformers
    }

    /// What the runner brings without code of the caller.
    public static let standard = ScenarioFeatures(names: [
        backgroundWrite, concurrency, insertionOrder, onDisk, operationObject, willInsertHook, writeCounter,
    ])

    /// These facilities and transformers of the caller, which are registered on every model.
    public func adding(_ transformers: AttributeTransformer...) -> ScenarioFeatures {
        ScenarioFeatures(names: names, transformers: self.transformers + transformers)
    }

    /// Writes happen in a background task on a store file, whose readers are connections of their own.
    static let backgroundWrite = "backgroundWrite"
    /// All cases of the group are evaluated many times in parallel.
    static let concurrency = "concurrency"
    static let insertionOrder = "insertionOrder"
    /// The case runs on a store file.
    static let onDisk = "onDisk"
    /// Syncs run in a task that could be cancelled.
    static let operationObject = "operationObject"
    /// Syncs call a hook that adds the keys of the case's `hook` to every record about to be inserted.
    static let willInsertHook = "willInsertHook"
    /// The rows written by a step are counted.
    static let writeCounter = "writeCounter"

    private static let builtIn = Set(StandardTransformer.allCases.map { "valueTransformer:\($0.rawValue)" })

    /// The needs that are not met, in their order. Built-in transformers are there anyway.
    public func missing(of needs: [String]) -> [String] {
        needs.filter { !names.contains($0) && !Self.builtIn.contains($0) }
    }
}

/// Finds scenario files.
enum ScenarioFiles {
    /// The file itself, or the JSON files of a folder at any depth, in path order.
    ///
    /// A folder with a folder `cases` keeps models and payloads next to it, so that only `cases` is read.
    static func files(at path: URL) throws(ScenarioError) -> [URL] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) else {
            throw ScenarioError("there is no such file or folder")
        }
        guard isFolder.boolValue else { return [path] }
        let cases = path.appendingPathComponent("cases")
        if FileManager.default.fileExists(atPath: cases.path, isDirectory: &isFolder), isFolder.boolValue {
            return try files(at: cases)
        }
        guard let walk = FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil) else {
            throw ScenarioError("cannot list the folder")
        }
        let files = walk.compactMap { $0 as? URL }.filter { $0.pathExtension == "json" }
        guard !files.isEmpty else { throw ScenarioError("the folder has no scenario files") }
        return files.sorted { $0.path < $1.path }
    }
}
