public import Foundation
public import SyncCore

/// A runner of scenario files. Each file has test cases in JSON, with expected results. A test case has steps, such as
/// syncs and fetches, or calls a function of the library.
///
/// ```swift
/// let report = await ScenarioRunner().run(paths: [URL(fileURLWithPath: "Fixtures/Scenarios")])
/// print(report.summary)  // 20 passed, 0 failed, 0 skipped
/// ```
///
/// Each test case with steps has a separate store. The store is in memory unless the test case needs a file. After the
/// last step, the store must pass `PRAGMA foreign_key_check` and `PRAGMA integrity_check`.
public struct ScenarioRunner: Sendable {
    /// Checks and store variants that a runner applies to every test case.
    package struct Options: Sendable {
        /// Whether the runner repeats each successful `sync` step. The second sync must write nothing.
        package var repeatsSyncs: Bool
        /// Whether the runner compares the store with a ``ReferenceStore`` after each `sync` step. The comparisons end
        /// at the first step that writes in another way, or that the reference does not support.
        package var checksReference: Bool

        /// The size in bytes of the chunks in which the runner syncs each payload; nil to sync the whole payload at
        /// once.
        package var chunkSize: Int?
        /// Whether the store is in an app database. Each sync except paged imports then runs in a transaction of the
        /// app.
        package var usesAppDatabase: Bool
        /// Whether the store uses existing tables with other names, if the model allows existing tables and the test
        /// case needs no file.
        package var usesExistingTables: Bool
        /// The factory of the stores; nil for SQLite stores.
        package var stores: (any ScenarioStoreFactory)?
        /// Whether results list the transformers that the model of a test case names and the runner does not register.
        package var namesMissingTransformers: Bool

        /// Creates options. All options are off by default.
        package init(
            repeatsSyncs: Bool = false, checksReference: Bool = false, chunkSize: Int? = nil,
            usesAppDatabase: Bool = false, namesMissingTransformers: Bool = false,
            usesExistingTables: Bool = false, stores: (any ScenarioStoreFactory)? = nil
        ) {
            self.stores = stores
            self.usesExistingTables = usesExistingTables
            self.usesAppDatabase = usesAppDatabase
            self.namesMissingTransformers = namesMissingTransformers
            self.chunkSize = chunkSize
            self.repeatsSyncs = repeatsSyncs
            self.checksReference = checksReference
        }

        var storeFactory: any ScenarioStoreFactory {
            stores ?? SQLiteStoreFactory(usesAppDatabase: usesAppDatabase, usesExistingTables: usesExistingTables)
        }
    }

    private let features: ScenarioFeatures
    private let options: Options

    /// Creates a runner that provides the given features. The runner skips test cases that require other features.
    public init(features: ScenarioFeatures = .standard) { self.init(features: features, options: Options()) }

    /// Creates a runner with options.
    package init(features: ScenarioFeatures = .standard, options: Options) {
        self.features = features.excluding(options.storeFactory.unmetNeeds)
        self.options = options
    }

    /// Runs the test cases of scenario files and folders.
    ///
    /// - Parameters:
    ///   - paths: Scenario files and folders. All JSON files in a folder, at any depth, must be scenario files. If a
    ///     folder contains a folder `cases`, only that folder is read.
    ///   - only: The name of the test cases to run; nil for all.
    /// - Returns: The report of the run. A missing path, a folder without scenario files, an invalid file and a run
    ///   without test cases are failures in the report.
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
        let missing = features.missing(of: scenario.allNeeds)
        guard missing.isEmpty else {
            return ScenarioReport.CaseResult(
                file: file.url.path, name: entry.name, outcome: .skipped,
                reason: "needs \(missing.joined(separator: ", "))")
        }
        let execution = ScenarioExecution(scenario, file: file, features: features, options: options)
        var failures = await execution.run()
        if failures.isEmpty, scenario.needs.contains(ScenarioFeatures.concurrency) {
            failures = await ParallelEvaluation(of: file, features: features, options.stores).run()
        }
        var result = ScenarioReport.CaseResult(
            file: file.url.path, name: entry.name, outcome: failures.isEmpty ? .passed : .failed, failures: failures)
        if options.namesMissingTransformers { result.missingTransformers = execution.missingTransformers }
        return result
    }
}

extension ScenarioReport.CaseResult {
    /// Returns the result of a case, file or path that could not be read.
    fileprivate static func failed(
        file: String, name: String, _ message: String, step: Int? = nil
    ) -> ScenarioReport.CaseResult {
        let failure = ScenarioReport.Failure(step: step, expected: "", found: "", message: message)
        return ScenarioReport.CaseResult(file: file, name: name, outcome: .failed, failures: [failure])
    }
}

/// Runs the cases of a file many times in parallel, to find state that calls share by mistake.
struct ParallelEvaluation: Sendable {
    /// The number of calls of each function. The cases with steps share this number of runs, because each run opens a
    /// store.
    static let rounds = 6000
    private static let width = 16

    private let executions: [ScenarioExecution]

    init(of file: ScenarioFile, features: ScenarioFeatures, _ stores: (any ScenarioStoreFactory)? = nil) {
        let scenarios = file.entries.compactMap { try? $0.scenario.get() }
            .filter { features.missing(of: $0.allNeeds).isEmpty }
        let functions = scenarios.filter { $0.function != nil }
        let stepped = scenarios.filter { $0.function == nil }
        let perCase = stepped.isEmpty ? 0 : max(1, Self.rounds / stepped.count)
        let all = Self.repeated(functions, Self.rounds) + Self.repeated(stepped, perCase)
        let models = Self.models(of: scenarios, in: file)
        executions = all.map {
            ScenarioExecution($0, file: file, features: features, options: .init(stores: stores), models: models)
        }
    }

    private static func repeated(_ scenarios: [Scenario], _ count: Int) -> [Scenario] {
        (0..<count).flatMap { _ in scenarios }
    }

    /// Loads each model once, so that the runs take less time. If a model cannot be loaded, its cases fail.
    private static func models(of scenarios: [Scenario], in file: ScenarioFile) -> [String: SyncModel] {
        var models: [String: SyncModel] = [:]
        for path in Set(scenarios.compactMap(\.model)) {
            models[path] = try? SyncModel(contentsOf: file.url(of: path))
        }
        return models
    }

    /// Runs all cases and returns the failures of the first run that fails.
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

/// The features that a ``ScenarioRunner`` provides. In a scenario file, the member `needs` of a test case lists the
/// features that the test case requires.
///
/// The runner skips a test case that requires any other feature. The runner always provides the built-in transformers.
public struct ScenarioFeatures: Sendable {
    /// The names of the provided needs, such as `onDisk` and `valueTransformer:NAME`.
    package private(set) var names: Set<String>
    /// The transformers that the runner registers on every model.
    let transformers: [AttributeTransformer]

    /// Creates features with these names, and with a feature `valueTransformer:NAME` for each transformer.
    package init(names: Set<String>, transformers: [AttributeTransformer] = []) {
        self.names = names.union(transformers.map { "valueTransformer:\($0.name)" })
        self.transformers = transformers
    }

    /// The features that need no code from the caller.
    public static let standard = ScenarioFeatures(names: [
        backgroundWrite, concurrency, insertionOrder, onDisk, operationObject, reopening, willInsertHook, writeCounter,
    ])

    /// Returns a copy of these features with additional transformers. The runner registers the transformers with every
    /// model. Each transformer is also a feature with the name `valueTransformer:NAME`.
    public func adding(_ transformers: AttributeTransformer...) -> ScenarioFeatures {
        ScenarioFeatures(names: names, transformers: self.transformers + transformers)
    }

    /// The runner writes to a store file with background priority. Reads use separate connections.
    static let backgroundWrite = "backgroundWrite"
    /// The runner also runs all cases of the file many times in parallel.
    static let concurrency = "concurrency"
    static let insertionOrder = "insertionOrder"
    /// The runner uses a store file.
    package static let onDisk = "onDisk"
    /// The runner syncs in a separate task.
    static let operationObject = "operationObject"
    /// The runner closes the store and opens it again, with another model. A case with a step `reopen` needs it.
    package static let reopening = "reopening"
    /// Syncs call an insert hook that adds the members of the case's `hook` to each record of a new row.
    static let willInsertHook = "willInsertHook"
    /// The runner counts the rows that a step writes.
    static let writeCounter = "writeCounter"

    private static let builtIn = Set(StandardTransformer.allCases.map { "valueTransformer:\($0.rawValue)" })

    /// Returns a copy of these features without those that a store lacks.
    func excluding(_ unmetNeeds: Set<String>) -> ScenarioFeatures {
        var features = self
        features.names.subtract(unmetNeeds)
        return features
    }

    /// Returns the needs that are not provided, in the given order. Built-in transformers are always provided.
    package func missing(of needs: [String]) -> [String] {
        needs.filter { !names.contains($0) && !Self.builtIn.contains($0) }
    }
}

/// Finds scenario files.
enum ScenarioFiles {
    /// Returns the file itself, or the JSON files of a folder at any depth, sorted by path.
    ///
    /// If a folder contains a folder `cases`, its other files are models and payloads, so only `cases` is read.
    static func files(at path: URL) throws(ScenarioError) -> [URL] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) else {
            throw ScenarioError("no such file or folder")
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

// MARK: - Report

/// A report with the result of each test case in a run.
public struct ScenarioReport: Sendable, Hashable, Codable {
    /// The outcome of a test case.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// All expectations are met.
        case passed
        /// An expectation is not met, or the test case could not be read or run. ``CaseResult/failures`` describes the
        /// failure.
        case failed
        /// The test case requires a feature that the runner does not provide. ``CaseResult/reason`` names the feature.
        case skipped
    }

    /// An expectation that is not met, or an unexpected error.
    public struct Failure: Sendable, Hashable, Codable {
        /// The number of the step, from 1; nil for a function, a file, or the final state of the store.
        public var step: Int?
        /// The expected value, as JSON or a description; empty if nothing could be compared.
        public var expected: String
        /// The found value, as JSON or a description; empty if nothing could be compared.
        public var found: String
        /// The compared property, or the error.
        public var message: String
    }

    /// The result of one test case, or of a path or file that could not be read.
    public struct CaseResult: Sendable, Hashable, Codable {
        /// The path of the scenario file.
        public var file: String
        /// The name of the test case.
        public var name: String
        /// The outcome of the test case.
        public var outcome: Outcome
        /// The failures. A test case stops at its first failing step.
        public var failures: [Failure] = []
        /// The reason for skipping the test case; nil if the test case was not skipped.
        public var reason: String?
        /// The transformers that the model names and the runner does not register. The value is nil if there are none,
        /// if no steps ran, or if ``ScenarioRunner/Options/namesMissingTransformers`` is false.
        package var missingTransformers: [String]?
    }

    /// The result of each test case, in the order of the files and of the test cases in each file.
    public var results: [CaseResult] = []

    /// The number of test cases that passed.
    public var passed: Int { count(.passed) }
    /// The number of test cases that failed.
    public var failed: Int { count(.failed) }
    /// The number of test cases that were skipped.
    public var skipped: Int { count(.skipped) }

    /// True if the report has test cases, and if no test case failed.
    public var isSuccess: Bool { failed == 0 && !results.isEmpty }

    /// A summary in one line, such as `20 passed, 0 failed, 1 skipped`.
    public var summary: String { "\(passed) passed, \(failed) failed, \(skipped) skipped" }

    private func count(_ outcome: Outcome) -> Int {
        results.reduce(0) { $0 + ($1.outcome == outcome ? 1 : 0) }
    }
}

extension ScenarioReport.CaseResult: CustomStringConvertible {
    /// A description in one line: the outcome, the file and the name, followed by the first failure or the reason for
    /// skipping the test case.
    public var description: String {
        let start = "\(outcome.rawValue) \(file) \(name)"
        switch outcome {
        case .passed: return start
        case .skipped: return reason.map { "\(start): \($0)" } ?? start
        case .failed: return failures.first.map { "\(start) \($0)" } ?? start
        }
    }
}

extension ScenarioReport.Failure: CustomStringConvertible {
    /// A description in one line, such as `step 3: count of User: expected 8, found 7`.
    public var description: String {
        let place = step.map { "step \($0): " } ?? ""
        let comparison = expected.isEmpty && found.isEmpty ? "" : ": expected \(expected), found \(found)"
        return "\(place)\(message)\(comparison)".split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

extension ScenarioReport.Failure: LocalizedError {
    /// The value of ``description``, for use as `localizedDescription`.
    public var errorDescription: String? { description }
}
