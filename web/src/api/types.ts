/** Short names for what the server sends. */

import type { Role } from "@/lib/roles";
import type { ApprovalState, OrderStatus, TaskState, Verification } from "@/lib/states";

import type { components } from "./schema";

export type { ApprovalState, OrderStatus, TaskState } from "@/lib/states";

type Schemas = components["schemas"];

type Same<A, B> = [A, B] extends [B, A] ? true : false;
/** A state or a role that the server has and pages do not know, or the other way round, does not compile. */
export const STATES_ARE_THE_SERVERS = {
  order: true,
  approval: true,
  role: true,
  verification: true,
} satisfies {
  order: Same<OrderStatus, Schemas["AgentWorkOrderStatus"]>;
  approval: Same<ApprovalState, Schemas["Approval"]["state"]>;
  role: Same<Role, Schemas["Session"]["role"]>;
  verification: Same<Verification | null, Schemas["AgentWorkOrderSummary"]["verification"]>;
};

export type Order = Schemas["AgentWorkOrder"];
export type OrderSummary = Schemas["AgentWorkOrderSummary"];
export type OrderPage = Schemas["AgentWorkOrderList"];
export type Phase = Schemas["AgentWorkflowPhase"];
export type PhaseHistoryEntry = Schemas["PhaseHistoryEntry"];
export type GitProgress = Schemas["GitProgressSnapshot"];
export type NewOrder = Schemas["CreateAgentWorkOrderRequest"];
export type PromptAnswer = Schemas["AgentPromptResponse"];
export type OverrideRequest = Schemas["OverrideRequest"];

export type TaskRisk = "low" | "medium" | "high";
export type Task = Omit<Schemas["Task"], "state"> & { state: TaskState };
export type TaskFailure = Schemas["TaskFailure"];
export type TaskApproval = Schemas["TaskApproval"];

export type LogLevel = "debug" | "info" | "warning" | "error";
export type LogEntry = Schemas["LogEntry"];
export type LogPage = Schemas["LogEntries"];
export type TranscriptEntry = Schemas["TranscriptEntry"];
export type TranscriptPage = Schemas["TranscriptPage"];
export type Artifact = Schemas["ArtifactEntry"];
export type Diff = Schemas["DiffAnswer"];
export type Commit = Schemas["Commit"];
export type CommitList = Schemas["CommitList"];
export type CommitDiff = Schemas["CommitDiffAnswer"];
export type Review = Schemas["Review"];

export type Approval = Schemas["Approval"];

export type Workflow = Schemas["Workflow"];
export type WorkflowSummary = Schemas["WorkflowSummary"];
export type WorkflowTask = Schemas["WorkflowTask"];
export type WorkflowInput = Schemas["WorkflowInput"];
export type WorkflowVersion = Schemas["WorkflowVersionEntry"];
export type WorkflowProblem = Schemas["WorkflowProblem"];
export type WorkflowValidation = Schemas["WorkflowValidation"];

export type Agent = Schemas["AvailableAgent"];
export type SandboxType = Schemas["SandboxType"];
export type Command = Schemas["CommandSummary"];
export type Tool = Schemas["Tool"];
export type Repository = Schemas["GitHubRepository"];
export type RepositoryVerification = Schemas["GitHubRepositoryVerificationResponse"];

export type ServerStatus = Schemas["Status"];
export type Session = Schemas["Session"];
export type ProblemDocument = Schemas["ProblemDocument"];
