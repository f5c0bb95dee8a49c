"""The workflows of the simulation: small, and together every kind of task and policy."""

from __future__ import annotations

from functools import cache

from agent_work_orders.testing.simulation.world import CATALOGUE
from agent_work_orders.workflow_engine.compiler import compile_workflow
from agent_work_orders.workflow_engine.definition import Definition, parse
from agent_work_orders.workflow_engine.plan import Plan

_RETRY = "{attempts: 3, delay: 1s, backoff: 2, on: [transient, unknown]}"

SOURCES = {
    "chain": f"""
name: chain
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  a: {{uses: sim.step, with: {{value: 1}}}}
  b: {{needs: [a], uses: sim.write, with: {{value: 2}}}}
  c: {{needs: [b], uses: sim.write, with: {{value: 3}}}}
""",
    "wide": f"""
name: wide
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  each: {{foreach: "{{{{ [1, 2, 3] }}}}", max_parallel: 2, uses: sim.write,
          with: {{value: "{{{{ item }}}}"}}}}
  loop:
    repeat:
      max: 3
      until: tasks.step.outputs.value >= 2
      tasks:
        step: {{uses: sim.step, with: {{value: "{{{{ iteration }}}}"}}}}
        save: {{needs: [step], uses: sim.write, with: {{value: "{{{{ iteration }}}}"}}}}
  last: {{needs: [each, loop], uses: sim.write, with: {{value: 9}}}}
""",
    "gated": f"""
name: gated
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  talk: {{uses: sim.talk, with: {{value: 1}}}}
  ask: {{needs: [talk], approval: {{message: "Go on?", expires: 2h}}}}
  go: {{needs: [ask], uses: sim.write, with: {{value: 1}},
        approval: {{message: "Write?", expires: 2h}}}}
""",
    "undoing": f"""
name: undoing
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  a: {{uses: sim.write, with: {{value: 1}}}}
  b: {{needs: [a], uses: sim.write, with: {{value: 2}}}}
  c: {{needs: [b], uses: sim.step, with: {{value: fail}}, on_failure: rollback}}
""",
    "stubborn": f"""
name: stubborn
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  a: {{uses: sim.write, with: {{value: 1}}}}
  b: {{needs: [a], uses: sim.step, with: {{value: fail}}, on_failure: pause}}
  c: {{needs: [b], uses: sim.talk, with: {{value: 3}}}}
""",
    "parent": f"""
name: parent
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  call: {{workflow: child, with: {{word: hello}}}}
  beside: {{uses: sim.step, with: {{value: 1}}, on_failure: continue}}
  after: {{needs: [call, beside], join: all_done, uses: sim.write, with: {{value: 5}}}}
""",
}
CHILD = f"""
name: child
inputs: {{word: {{type: string, required: true}}}}
defaults: {{retry: {_RETRY}, timeout: 30s}}
tasks:
  inner: {{uses: sim.write, with: {{value: "{{{{ inputs.word }}}}"}}}}
outputs: {{back: "{{{{ tasks.inner.outputs.value }}}}"}}
"""


@cache
def plan_of(name: str) -> Plan:
    child = parse(CHILD, "child.yaml")
    known: dict[str, Definition] = {child.name: child}
    source = parse(SOURCES[name], f"{name}.yaml")
    return compile_workflow(source, CATALOGUE, children=known.get)
