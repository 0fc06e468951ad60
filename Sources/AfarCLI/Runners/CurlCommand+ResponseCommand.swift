import Afar

extension CurlCommand {
    /// What the tool would send, and print of the response.
    init(_ plan: RequestPlan, _ options: any ResponseCommand, more: [String] = []) {
        let choices = [
            ("--fail-with-body", options.output.checkStatus),
            ("--include", options.output.include && plan.method != .head),
            ("--verbose", options.inspection.verbose),
        ]
        self.init(plan, sentWith: options, more: choices.filter(\.1).map(\.0) + more)
    }
}
