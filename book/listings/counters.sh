#!/bin/sh
# The counters of the page "Symptom, counter, cure", for the kernels of a program whose names match a pattern:
#   sh book/listings/counters.sh aes_conflict_free_4_ecb_encrypt cargo xtask bench-all --backend aes/cuda-table-conflict-free
# The first launch is profiled. For compute capability 9.0.
pattern=$1
shift
# ANCHOR: metrics
stalled=smsp__average_warps_issue_stalled
busy=avg.pct_of_peak_sustained_active
metrics="
    gpc__cycles_elapsed.avg.per_second
    smsp__issue_active.$busy
    sm__inst_executed_pipe_alu.$busy
    sm__inst_executed_pipe_fmaheavy.$busy
    l1tex__data_pipe_lsu_wavefronts_mem_shared.$busy
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
    sm__inst_executed_pipe_lsu_mem_shared_cmd_read.sum
    l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
    l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
    dram__throughput.avg.pct_of_peak_sustained_elapsed
    smsp__inst_executed_op_local_ld.sum
    smsp__inst_executed_op_local_st.sum
    launch__registers_per_thread
    launch__waves_per_multiprocessor
    sm__warps_active.avg.per_cycle_active
    ${stalled}_barrier_per_issue_active.ratio
    ${stalled}_dispatch_stall_per_issue_active.ratio
    ${stalled}_imc_miss_per_issue_active.ratio
    ${stalled}_long_scoreboard_per_issue_active.ratio
    ${stalled}_math_pipe_throttle_per_issue_active.ratio
    ${stalled}_mio_throttle_per_issue_active.ratio
    ${stalled}_no_instruction_per_issue_active.ratio
    ${stalled}_not_selected_per_issue_active.ratio
    ${stalled}_short_scoreboard_per_issue_active.ratio
    ${stalled}_wait_per_issue_active.ratio
"
# ANCHOR_END: metrics
exec ncu --target-processes all --clock-control none --kernel-name "regex:$pattern" --launch-count 1 \
    --metrics "$(echo $metrics | tr ' ' ',')" "$@"
